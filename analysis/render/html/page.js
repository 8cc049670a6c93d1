"use strict";
// What the page's scripts share. Text of a trace (names of kernels, threads, calls) is hostile: it reaches the page as
// textContent, as an attribute's value or drawn on a canvas, never as markup.
const gpuspy = { data: JSON.parse(document.getElementById("data").textContent) };

/// A new element at the end of `parent`.
gpuspy.add = (parent, tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

/// A section with a heading, named in the contents.
gpuspy.section = (id, title, about) => {
  const section = gpuspy.add(document.getElementById("report"), "section");
  section.id = id;
  gpuspy.add(section, "h2", "", title);
  if (about) gpuspy.add(section, "p", "about", about);
  const link = gpuspy.add(document.getElementById("contents"), "a", "", title);
  link.href = `#${encodeURIComponent(id)}`;
  return section;
};
