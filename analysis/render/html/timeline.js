"use strict";
// What ran when: streams of the GPUs above threads of the host, on D3's scales, axis and zoom.
(() => {
  const overview = gpuspy.data.overview;
  const laneHeight = 22;
  const barHeight = 17;
  const axisHeight = 26;
  const mostLanes = 64;  // A canvas has a greatest height.
  const leastRange = 200;  // ns across the whole width
  // A block: [begin_ns, length_ns, count, time_ns, name, category].
  const begin = (block) => block[0];
  const end = (block) => block[0] + block[1];

  const fixedColours = { wait: "--wait", launch: "--launch", other: "--series-rest" };
  const copyColours = ["--copy-1", "--copy-2", "--copy-3", "--copy-4"];
  /// By category, in the colours of now.
  const categoryColours = () => {
    let copies = 0;
    return overview.categories.map(({ kind, name }) =>
      kind === "owner" ? gpuspy.ownerColour(name)
        : gpuspy.colour(kind === "copy" ? copyColours[copies++ % copyColours.length] : fixedColours[kind]));
  };
  const categoryName = ({ kind, name }) => (kind === "copy" ? `copy ${name}`.replace("copy memset", "memset") : name);

  const laneName = (lane) => {
    if (lane.row > 0) return "at the same time";
    if (!lane.host) return `GPU ${lane.device}, stream ${lane.stream}`;
    return lane.thread ? `${lane.thread}, thread ${lane.tid}` : `thread ${lane.tid}`;
  };

  /// The most time first where there are too many; in the order of the overview.
  const shownLanes = () => {
    if (overview.lanes.length <= mostLanes) return overview.lanes;
    const least = overview.lanes.map((lane) => lane.time_ns).sort(d3.descending)[mostLanes - 1];
    return overview.lanes.filter((lane) => lane.time_ns >= least).slice(0, mostLanes);
  };

  const sentences = (lanes) => {
    const texts = [];
    if (overview.pixel_ns > 0) {
      texts.push(`An overview: what is shorter than ${gpuspy.format(overview.pixel_ns, "ns")} is drawn together with what ` +
        "begins within the same stretch of that length; such blocks say how many they stand for.");
    }
    if (lanes.length < overview.lanes.length) {
      texts.push(`${overview.lanes.length - lanes.length} streams and threads with less time are not drawn.`);
    }
    if (overview.unplaced > 0) {
      texts.push(`${gpuspy.format(overview.unplaced, "count")} activities have no time on the host's clock and are not drawn.`);
    }
    return texts;
  };

  const legend = (parent) => {
    const box = gpuspy.add(parent, "div", "legend");
    const draw = () => {
      const colours = categoryColours();
      const kinds = ["owner", "copy", "launch", "wait", "other"];
      box.replaceChildren();
      overview.categories.map((category, at) => ({ category, colour: colours[at] }))
        .sort((a, b) => kinds.indexOf(a.category.kind) - kinds.indexOf(b.category.kind))
        .forEach(({ category, colour }) => {
          const item = gpuspy.add(box, "span", "legend-item");
          gpuspy.add(item, "i").style.backgroundColor = colour;
          gpuspy.add(item, "span", "", categoryName(category));
        });
    };
    draw();
    return draw;
  };

  /// "1.2345 s", with the digits that tell ticks `step_ns` apart.
  const moment = (ns, step_ns) => {
    const [unit, name] = overview.wall_ns >= 1e9 ? [1e9, "s"] : overview.wall_ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
    return `${(ns / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step_ns / unit) - 1e-9)))} ${name}`;
  };

  gpuspy.timeline = () => {
    if (!overview || overview.lanes.length === 0) return;
    const section = gpuspy.section("timeline", "Timeline");
    const lanes = shownLanes();
    const bar = gpuspy.add(section, "div", "toolbar");
    const button = (text, label, act) => {
      const element = gpuspy.add(bar, "button", "", text);
      element.type = "button";
      element.setAttribute("aria-label", label);
      element.addEventListener("click", act);
    };
    button("+", "Zoom in", () => zoomBy(2));
    button("−", "Zoom out", () => zoomBy(0.5));
    button("Whole run", "Show the whole run", () => whole());
    const readout = gpuspy.add(bar, "output", "readout");
    gpuspy.add(bar, "span", "hint", "drag to move; Ctrl and the wheel, or + − ← → 0 after a click, to zoom");
    const redrawLegend = legend(section);

    const frame = gpuspy.add(section, "div", "timeline");
    const labels = gpuspy.add(frame, "div", "lanes");
    labels.style.paddingTop = `${axisHeight}px`;
    for (const lane of lanes) {
      const label = gpuspy.add(labels, "div", lane.row > 0 ? "lane lane-below" : "lane", laneName(lane));
      label.title = `${laneName(lane)}: ${gpuspy.format(lane.count, "count")} ${lane.host ? "outermost calls" : "activities"}, ` +
        gpuspy.format(lane.time_ns, "ns");
    }
    const plot = gpuspy.add(frame, "div", "plot");
    const axis = d3.select(plot).append("svg").attr("height", axisHeight).attr("width", "100%").attr("aria-hidden", "true");
    const axisGroup = axis.append("g").attr("transform", `translate(0,${axisHeight - 1})`);
    const canvas = gpuspy.add(plot, "canvas");
    canvas.tabIndex = 0;
    canvas.id = "timeline.canvas";
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "What ran when; plus and minus zoom, arrows move, 0 shows the whole run");
    const height = lanes.length * laneHeight;
    canvas.style.height = `${height}px`;
    const tip = gpuspy.add(section, "div", "tip");
    tip.hidden = true;
    for (const text of sentences(lanes)) gpuspy.add(section, "p", "note", text);

    const context = canvas.getContext("2d");
    const full = d3.scaleLinear().domain([0, Math.max(1, overview.wall_ns)]);
    let shown = full;
    let colours = categoryColours();

    const drawLane = (lane, top) => {
      const [from, to] = shown.domain();
      const bottom = top + laneHeight;
      context.fillStyle = gpuspy.colour("--line");
      context.fillRect(0, bottom - 1, canvas.clientWidth, 1);
      const first = d3.bisector(end).left(lane.blocks, from);
      for (let at = first; at < lane.blocks.length && begin(lane.blocks[at]) <= to; ++at) {
        const [begin_ns, length_ns, count, time_ns, name, category] = lane.blocks[at];
        const x = shown(begin_ns);
        const width = Math.max(0.8, shown(begin_ns + length_ns) - x);
        // Several that leave gaps between them are paler.
        context.globalAlpha = count === 1 || length_ns === 0 ? 1 : 0.35 + 0.65 * Math.min(1, time_ns / length_ns);
        context.fillStyle = colours[category];
        context.fillRect(x, top + 2, width > 3 ? width - 0.5 : width, barHeight);
        context.globalAlpha = 1;
        const visible = Math.min(x + width, canvas.clientWidth) - Math.max(0, x);
        if (visible > 46) {
          const text = count === 1 ? overview.names[name].short : `${gpuspy.format(count, "count")} × ${overview.names[name].short} …`;
          context.fillStyle = d3.lab(colours[category]).l > 60 ? "#14181f" : "#ffffff";
          context.fillText(text.slice(0, Math.floor((visible - 8) / 6.2)), Math.max(0, x) + 4, top + 2 + barHeight / 2 + 0.5);
        }
      }
    };

    const draw = () => {
      const width = canvas.clientWidth;
      const ratio = devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "middle";
      lanes.forEach((lane, at) => drawLane(lane, at * laneHeight));
      const ticks = shown.ticks(Math.max(2, width / 130));
      const step = ticks.length > 1 ? ticks[1] - ticks[0] : overview.wall_ns;
      axisGroup.call(d3.axisTop(shown).tickValues(ticks).tickSizeOuter(0).tickFormat((ns) => moment(ns, step)));
      const [from, to] = shown.domain();
      canvas.dataset.from = from;
      canvas.dataset.to = to;
      readout.textContent = `${moment(from, (to - from) / 100)} to ${moment(to, (to - from) / 100)}: ${gpuspy.format(to - from, "ns")}`;
    };

    const zoom = d3.zoom()
      .filter(() => {
        const event = d3.event;
        // The page scrolls on until a person means the timeline.
        return event.type !== "wheel" ? !event.button : event.ctrlKey || event.metaKey || document.activeElement === canvas;
      })
      .on("zoom", () => {
        shown = d3.event.transform.rescaleX(full);
        tip.hidden = true;
        draw();
      });
    const selected = d3.select(canvas);
    const zoomBy = (factor) => selected.call(zoom.scaleBy, factor);
    const whole = () => selected.call(zoom.transform, d3.zoomIdentity);
    const fit = () => {
      const width = Math.max(1, canvas.clientWidth);
      full.range([0, width]);
      zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]])
        .scaleExtent([1, Math.max(1, overview.wall_ns / leastRange)]);
      shown = d3.zoomTransform(canvas).rescaleX(full);
      draw();
    };
    selected.call(zoom);
    canvas.addEventListener("pointerdown", () => canvas.focus({ preventScroll: true }));
    canvas.addEventListener("keydown", (event) => {
      const pan = (part) => selected.call(zoom.translateBy, (part * canvas.clientWidth) / d3.zoomTransform(canvas).k, 0);
      const keys = { "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(0.5), 0: whole,
        ArrowLeft: () => pan(0.2), ArrowRight: () => pan(-0.2) };
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });

    const blockAt = (x, y) => {
      const lane = lanes[Math.floor(y / laneHeight)];
      if (!lane) return null;
      // What is drawn wider than it is can be met at its edge.
      const slack = shown.invert(2) - shown.invert(0);
      const ns = shown.invert(x);
      const block = lane.blocks[d3.bisector(end).left(lane.blocks, ns - slack)];
      return block && begin(block) <= ns + slack ? { lane, block } : null;
    };
    canvas.addEventListener("pointermove", (event) => {
      const found = blockAt(event.offsetX, event.offsetY);
      tip.hidden = !found;
      if (!found) return;
      const [begin_ns, length_ns, count, time_ns, name, category] = found.block;
      tip.replaceChildren();
      gpuspy.add(tip, "strong", "", gpuspy.shortened(overview.names[name].text, 160));
      gpuspy.add(tip, "div", "", count === 1 ? gpuspy.format(length_ns, "ns")
        : `the longest of ${gpuspy.format(count, "count")} in ${gpuspy.format(length_ns, "ns")}, which take ${gpuspy.format(time_ns, "ns")}`);
      gpuspy.add(tip, "div", "soft", `at ${moment(begin_ns, 1000)}, ${categoryName(overview.categories[category])}`);
      const box = section.getBoundingClientRect();
      tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 8)}px`;
      tip.style.top = `${event.clientY - box.top + 16}px`;
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });

    gpuspy.timelineRedraw = () => {
      colours = categoryColours();
      redrawLegend();
      draw();
    };
    new ResizeObserver(fit).observe(plot);
    fit();
  };
})();
