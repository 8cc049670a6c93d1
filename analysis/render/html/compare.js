"use strict";
// A comparison of traces (gpuspy-report compare): a section for each of its tables, with charts. docs/comparing.md describes
// the tables.
(() => {
  /// More bars than these for each measure are no picture any more.
  const mostTraces = 8;
  const mostChanges = 12;
  /// Ratios that are nearer to 1 are not drawn.
  const leastDrawn = 0.01;
  const flat = (name) => () => gpuspy.colour(name);
  const legend = { position: "top", align: "end", labels: { boxWidth: 12, boxHeight: 12 } };

  /// The traces of the table `measures`: [{value, ratio, label}], names of columns.
  const tracesOf = (table) => table.columns.filter((column) => /^value_\d+$/.test(column.name))
    .map((column) => ({ value: column.name, ratio: column.name.replace("value", "ratio"), label: column.title }));

  /// Bars for each of `rows`, one for each trace. `bar(row, trace)`: what Chart.js draws; `about(row, trace)`: in words.
  const grouped = (parent, title, remark, rows, traces, scale, bar, about) => {
    if (rows.length === 0 || traces.length === 0 || traces.length > mostTraces) return;
    gpuspy.chart(parent, title, rows.length * (12 * traces.length + 14) + 76, () => ({
      type: "bar",
      data: { labels: rows.map((row) => row.title), datasets: traces.map((trace) => ({
        label: gpuspy.shortened(trace.label, 40), data: rows.map((row) => bar(row, trace)),
        backgroundColor: gpuspy.seriesColour(trace.at), borderRadius: 3, maxBarThickness: 14 })) },
      options: { indexAxis: "y", scales: { x: scale, y: { grid: { display: false, drawBorder: false }, ticks: { autoSkip: false } } },
        plugins: { legend: { ...legend, display: traces.length > 1 },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${about(rows[item.dataIndex], traces[item.datasetIndex])}` } } } },
    }), remark);
  };

  const times = (parent, title, rows, traces) => grouped(parent, title, "", rows, traces,
    { beginAtZero: true, border: { display: false }, grid: { drawBorder: false },
      ticks: { maxTicksLimit: 6, callback: (value) => gpuspy.tick(value, "ns") } },
    (row, trace) => row[trace.value], (row, trace) => gpuspy.format(row[trace.value], "ns"));

  /// Half as much and twice as much are as far from 1. What fell to 0 ends at the least that is drawn.
  const ratios = (parent, rows, traces) => {
    const others = traces.filter((trace) => rows.some((row) => typeof row[trace.ratio] === "number"));
    const known = rows.filter((row) => others.some((trace) => typeof row[trace.ratio] === "number" && Math.abs(row[trace.ratio] - 1) >= leastDrawn));
    const above0 = known.flatMap((row) => others.map((trace) => row[trace.ratio])).filter((ratio) => ratio > 0);
    const least = Math.min(0.5, ...above0);
    const most = Math.max(2, ...above0);
    const drawn = (ratio) => (typeof ratio !== "number" ? null : [Math.min(1, Math.max(ratio, least)), Math.max(1, ratio)]);
    grouped(parent, "Ratios to the first", "of what differs by 1 % or more; 1: as the first", known, others,
      { type: "logarithmic", min: least, max: most, border: { display: false }, grid: { drawBorder: false },
        ticks: { maxTicksLimit: 8, callback: (value) => ("125".includes(value.toExponential(0)[0]) ? String(Number(value.toPrecision(1))) : "") } },
      (row, trace) => drawn(row[trace.ratio]),
      (row, trace) => `${gpuspy.format(row[trace.ratio], "number")} (${gpuspy.format(row[trace.value], row.unit)})`);
  };

  /// Who the kernels' time belongs to: a bar for each trace, in parts that make 100 %.
  const shares = (parent, rows, traces) => {
    const known = traces.filter((trace) => rows.some((row) => row[trace.value] > 0));
    if (known.length === 0) return;
    const ownerOf = (row) => row.measure.slice("share.".length).replace(/^own$/, "no library");
    gpuspy.chart(parent, "Kernel time by library", 30 * known.length + 84, () => ({
      type: "bar",
      data: { labels: known.map((trace) => gpuspy.shortened(trace.label, 28)), datasets: rows.map((row, at) => ({
        label: ownerOf(row), data: known.map((trace) => row[trace.value]), backgroundColor: gpuspy.seriesColour(at), maxBarThickness: 20 })) },
      options: { indexAxis: "y", scales: {
        x: { stacked: true, min: 0, max: 1, border: { display: false }, grid: { drawBorder: false }, ticks: { callback: (value) => gpuspy.tick(value, "share") } },
        y: { stacked: true, grid: { display: false, drawBorder: false }, ticks: { autoSkip: false } } },
      plugins: { legend, tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${gpuspy.format(item.raw, "share")}` } } } },
    }), "of each trace's own");
  };

  const measures = (box, table) => {
    const traces = tracesOf(table).map((trace, at) => ({ ...trace, at }));
    const named = table.rows.filter((row) => typeof row.measure === "string");
    const ofTime = named.filter((row) => row.unit === "ns");
    times(box, "Times", ofTime.filter((row) => !row.measure.endsWith("_per_image")), traces);
    times(box, "Times per image", ofTime.filter((row) => row.measure.endsWith("_per_image")), traces);
    ratios(box, table.rows, traces);
    shares(box, named.filter((row) => row.measure.startsWith("share.")), traces);
  };

  /// All of the time of what was added or is gone; null where it is not known.
  const differenceOf = (row) => (row.change === "added" ? row.time_ns
    : row.change === "gone" ? row.first_time_ns && -row.first_time_ns : row.difference_ns);

  /// What differs most, to the right what takes longer than in the first.
  const changes = (what) => (box, table) => {
    const rows = table.rows.map((row) => ({ ...row, by: differenceOf(row) })).filter((row) => row.by)
      .sort((a, b) => d3.descending(Math.abs(a.by), Math.abs(b.by)));
    if (rows.length < 2) return;
    const several = new Set(table.rows.map((row) => row.trace)).size > 1;
    gpuspy.bars(box, `${what} with the greatest difference in time`, rows.slice(0, mostChanges).map((row) => ({
      label: gpuspy.shortName(row.name) + (several ? ` (${gpuspy.shortened(row.trace, 20)})` : ""), full: row.name,
      value: row.by, colour: flat(row.by > 0 ? "--wait" : "--series-1"),
      about: `${row.trace}: ${row.change}, ${gpuspy.format(row.first_time_ns, "ns")} to ${gpuspy.format(row.time_ns, "ns")}` })),
    "ns", { about: rows.length > mostChanges ? `the first ${mostChanges} of ${rows.length}; less than 0: faster than the first` : "less than 0: faster than the first" });
  };

  /// Images a second, trace by trace, beneath the best of them.
  const curve = (box, table) => {
    const rows = table.rows.filter((row) => typeof row.images_per_s === "number");
    if (rows.length < 2) return;
    const best = Math.max(...rows.map((row) => row.images_per_s));
    const line = (label, data, name, extra) => ({ label, data, borderColor: gpuspy.colour(name), backgroundColor: gpuspy.colour(name), borderWidth: 1.5, ...extra });
    gpuspy.chart(box, "Images a second", 260, () => ({
      type: "line",
      data: { labels: rows.map((row) => gpuspy.shortened(row.trace, 28)), datasets: [
        line("images a second", rows.map((row) => row.images_per_s), "--series-1", { pointRadius: 4 }),
        line("the best", rows.map(() => best), "--series-rest", { pointRadius: 0, borderDash: [5, 4] })] },
      options: { scales: { x: { grid: { display: false } }, y: { beginAtZero: true, border: { display: false }, grid: { drawBorder: false } } },
        plugins: { legend, tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${gpuspy.format(item.raw, "number")}`,
          afterLabel: (item) => (item.datasetIndex === 0 ? `${gpuspy.format(rows[item.dataIndex].share_of_best, "share")} of the best, utilisation ` +
            gpuspy.format(rows[item.dataIndex].utilisation, "share") : "") } } } },
    }), table.remark);
  };

  /// What must be known before the numbers are compared stands above them.
  const notes = (section, table) => {
    if (table.notes.length === 0) return;
    const box = gpuspy.add(section, "div", "banner bad");
    box.id = "compare.notes";
    gpuspy.add(box, "strong", "", "Before you compare");
    const list = gpuspy.add(box, "div");
    for (const note of table.notes) gpuspy.add(list, "p", "compare-note", note);
  };

  const isWhole = ["traces", "measures", "curve"];
  const known = {
    traces: { charts: () => {} },
    measures: { charts: measures },
    spread: { charts: () => {}, onlyWithRows: true },
    curve: { charts: curve },
    kernels: { charts: changes("Kernels") },
    calls: { charts: changes("Calls") },
  };

  /// `tables`: the view `compare`; those that are not known here come behind, in the order in which they were given.
  gpuspy.comparison = (tables) => {
    const order = Object.keys(known);
    const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
    for (const [name, table] of Object.entries(tables).sort(([a], [b]) => rank(a) - rank(b))) {
      if (known[name]?.onlyWithRows && table.rows.length === 0) continue;
      const section = gpuspy.section(`compare.${name}`, table.title);
      if (name === "traces") notes(section, table);
      const box = gpuspy.add(section, "div", "charts");
      known[name]?.charts(box, table);
      if (box.childElementCount === 0) box.remove();
      // What is compared is one thing and has all its rows; what differs is a list.
      const top = isWhole.includes(name) ? Infinity : undefined;
      gpuspy.table(section, `compare.${name}`, name === "traces" ? { ...table, notes: [] } : table, top);
    }
  };
})();
