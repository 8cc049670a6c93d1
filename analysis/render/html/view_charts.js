"use strict";
// Charts of the views that are known here. A view of another name, or with other columns, has its tables alone.
(() => {
  const most = 10;
  const has = (table, ...names) => names.every((name) => table.columns.some((column) => column.name === name));
  const groupBy = (rows, name) => d3.nest().key((row) => row[name] ?? "").entries(rows);
  const flat = (name) => () => gpuspy.colour(name);

  /// The rows with the largest values, as bars.
  const largest = (table, label, value, unit, title, colour = () => flat("--series-1")) => (parent) => {
    if (!has(table, label, value)) return;
    const rows = table.rows.filter((row) => row[value] > 0).sort((a, b) => d3.descending(a[value], b[value]));
    if (rows.length < 2) return;
    gpuspy.bars(parent, title, rows.slice(0, most).map((row) => ({
      label: gpuspy.shortName(String(row[label] ?? "")), full: String(row[label] ?? ""), value: row[value], colour: colour(row),
      about: row.owner })), unit, { about: rows.length > most ? `the first ${most} of ${rows.length}` : "" });
  };

  /// One chart for each device, where there are several.
  const perDevice = (table, draw) => (parent) => {
    const devices = groupBy(table.rows, "device");
    for (const { key, values } of devices) draw(parent, values, devices.length > 1 ? `GPU ${key}: ` : "");
  };

  const histogram = (table) => perDevice(table, (parent, rows, prefix) => {
    if (!has(table, "in_flight", "time_ns")) return;
    const value = rows.some((row) => row.share_of_wall !== null) ? "share_of_wall" : "share_of_busy";
    gpuspy.bars(parent, `${prefix}Activities in flight`, rows.map((row) => ({ label: String(row.in_flight), value: row[value],
      colour: flat(row.in_flight === 0 ? "--series-rest" : "--series-1"), about: gpuspy.format(row.time_ns, "ns") })), "share",
    { upright: true, names: "activities at once", about: value === "share_of_wall" ? "share of wall time" : "share of busy time" });
  });

  const causes = (table) => perDevice(table, (parent, rows, prefix) => {
    if (!has(table, "cause", "total_ns")) return;
    gpuspy.bars(parent, `${prefix}Idle time by cause`, rows.filter((row) => row.total_ns > 0).map((row) => ({ label: row.cause,
      value: row.total_ns, colour: flat("--wait"), about: `${gpuspy.format(row.share_of_wall, "share")} of wall, ` +
      `${gpuspy.format(row.gaps, "count")} gaps` })), "ns");
  });

  /// Parts of the span between first and last activity: the durations of a row.
  const parts = (table) => perDevice(table, (parent, rows, prefix) => {
    const columns = table.columns.filter((column) => column.unit === "ns" && column.name !== "span_ns");
    if (rows.length !== 1 || columns.length < 2) return;
    gpuspy.bars(parent, `${prefix}${table.title}`, columns.filter((column) => rows[0][column.name] > 0)
      .map((column) => ({ label: column.title, value: rows[0][column.name],
        colour: flat(/^(kernels|copies)_ns$/.test(column.name) ? "--series-1" : "--wait") })), "ns",
    { about: "from the first activity to the last" });
  });

  const shares = (table, label, value, title) => (parent) => {
    const rows = has(table, label, value) ? table.rows.filter((row) => row[value] > 0) : [];
    if (rows.length < 2) return;
    gpuspy.shares(parent, title, rows.slice(0, 8).map((row, at) => ({ label: String(row[label]), value: row[value],
      colour: () => gpuspy.seriesColour(at) })), "ns");
  };

  /// Values over the time of the recording: a line for each of `values` and each value of `group`.
  const series = (table, group, values, unit) => (parent) => {
    if (!has(table, "at_ns", group, ...values) || table.rows.length < 2) return;
    const groups = groupBy(table.rows, group);
    const titles = new Map(table.columns.map((column) => [column.name, column.title]));
    gpuspy.lines(parent, table.title, groups.flatMap(({ key, values: rows }) => values.map((name) => ({
      label: [groups.length > 1 || values.length === 1 ? `${group === "device" ? "GPU " : ""}${key}` : "", values.length > 1 ? titles.get(name) : ""]
        .filter(Boolean).join(", "),
      stepped: "before", points: rows.map((row) => ({ x: row.at_ns, y: row[name] })) }))), unit, table.remark);
  };

  /// Arithmetic intensity and FLOP/s of operations, beneath what the device allows at that intensity.
  const roofline = (table) => (parent) => {
    if (!has(table, "flops_per_byte", "flops_per_s", "share_of_roof", "type", "name")) return;
    const rows = table.rows.filter((row) => row.flops_per_byte > 0 && row.flops_per_s > 0);
    if (rows.length === 0) return;
    const longest = d3.max(rows, (row) => row.gpu_ns ?? 0) || 1;
    const types = groupBy(rows, "type");
    const roof = (values) => values.filter((row) => row.share_of_roof > 0)
      .map((row) => ({ x: row.flops_per_byte, y: row.flops_per_s / row.share_of_roof })).sort((a, b) => a.x - b.x);
    const powers = (unit) => ({ type: "logarithmic", ticks: { maxTicksLimit: 8,
      callback: (value) => (Math.log10(value) % 1 === 0 ? gpuspy.tick(value, unit) : "") } });
    gpuspy.chart(parent, "Roofline", 340, () => ({
      data: { datasets: types.flatMap(({ key, values }, at) => [
        { type: "scatter", label: key, backgroundColor: `${gpuspy.seriesColour(at)}b0`,
          data: values.map((row) => ({ x: row.flops_per_byte, y: row.flops_per_s, row })),
          pointRadius: values.map((row) => 3 + 9 * Math.sqrt((row.gpu_ns ?? 0) / longest)) },
        { type: "line", label: `roof ${key}`, data: roof(values), borderColor: gpuspy.seriesColour(at), borderWidth: 1.5,
          borderDash: [5, 4], pointRadius: 0 },
      ]) },
      options: {
        scales: { x: { ...powers("number"), title: { display: true, text: "FLOP per byte" } },
          y: { ...powers("FLOP/s"), title: { display: true, text: "FLOP/s while it runs" } } },
        plugins: { legend: { position: "top", align: "end", labels: { boxWidth: 12, boxHeight: 12 } },
          tooltip: { filter: (item) => item.raw.row !== undefined, callbacks: { label: ({ raw: { row } }) =>
            `${row.name}${row.operation ? ` (${row.operation})` : ""}: ${gpuspy.format(row.flops_per_s, "FLOP/s")}, ` +
            `${gpuspy.format(row.share_of_roof, "share")} of roof, ${gpuspy.format(row.gpu_ns, "ns")}` } } },
      },
    }), "size: time on the GPU; dashed: what peak and memory bandwidth together allow");
  };

  const charts = {
    "kernels.kernels": (table) => largest(table, "name", "total_ns", "ns", "Kernels with most time",
      (row) => () => gpuspy.ownerColour(row.owner)),
    "calls.calls": (table) => largest(table, "name", "total_ns", "ns", "Calls with most time", () => flat("--launch")),
    "concurrency.in_flight": histogram,
    "idle.verdict": parts,
    "idle.causes": causes,
    "libraries.groups": (table) => shares(table, "group", "time_ns", "Libraries and the framework"),
    "sync.sites": (table) => largest(table, "call", "time_ns", "ns", "Waits with most time", () => flat("--wait")),
    "sync.calls": (table) => largest(table, "name", "time_ns", "ns", "Waits with most time", () => flat("--wait")),
    "memory.copies": (table) => largest(table, "direction", "bytes", "bytes", "Copied bytes", () => flat("--copy-1")),
    "flops.operations": roofline,
  };
  // By columns, whatever their name.
  const anywhere = [(table) => series(table, "place", ["max_bytes"], "bytes"),
    (table) => series(table, "device", ["waiting_avg", "unfinished_avg"], "number")];

  gpuspy.viewCharts = (section, view, tables) => {
    const box = gpuspy.add(section, "div", "charts");
    for (const [name, table] of Object.entries(tables)) {
      if (table.rows.length === 0) continue;
      for (const chart of [charts[`${view}.${name}`], ...anywhere]) chart?.(table)(box);
    }
    if (box.childElementCount === 0) box.remove();
  };
})();
