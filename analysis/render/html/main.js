"use strict";
// The page: head, summary, timeline, then a section for each view in the data, whatever its name; or a comparison.
(() => {
  const { data } = gpuspy;
  const { compare, ...views } = data.views?.views || {};
  document.title = `gpuspy report: ${data.title}`;
  document.getElementById("title").textContent = data.title;
  document.getElementById("command").textContent = (data.report?.process.argv || []).join(" ");
  document.getElementById("made").textContent = "Made by gpuspy-report; numbers are defined in docs/metrics.md. Charts: Chart.js; timeline and tables: D3.";
  if (data.part) {
    const part = gpuspy.add(document.getElementById("head"), "p", "part",
      compare ? `What is compared is a part of each recording (${data.part}).`
        : `Timeline and views show a part of the recording (${data.part}); the summary is of all of it.`);
    part.id = "part";
  }

  const show = (id, title, tables) => {
    const section = gpuspy.section(id, title);
    gpuspy.viewCharts(section, id, tables);
    for (const [name, table] of Object.entries(tables)) gpuspy.table(section, `${id}.${name}`, table);
  };

  gpuspy.summary();
  gpuspy.timeline();
  if (compare) gpuspy.comparison(compare);
  // Why first, then what; what is not known here comes behind, in the order in which it was given.
  const first = ["idle", "concurrency", "kernels", "libraries", "calls", "latency", "sync", "memory", "flops"];
  const titles = { flops: "FLOPs", sync: "Synchronisation", latency: "Launch latency" };
  const sections = [...Object.entries(views).map(([id, tables]) => ({ id, tables,
    title: titles[id] || id.charAt(0).toUpperCase() + id.slice(1).replaceAll("_", " ") })), ...gpuspy.reportTables(views)];
  const rank = ({ id }) => (first.includes(id) ? first.indexOf(id) : first.length);
  sections.map((section, order) => ({ ...section, order })).sort((a, b) => rank(a) - rank(b) || a.order - b.order)
    .forEach(({ id, title, tables }) => show(id, title, tables));
  gpuspy.run();
})();
