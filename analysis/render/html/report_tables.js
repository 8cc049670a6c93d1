"use strict";
// Tables of the summary's JSON that no view shows: docs/report-json.md.
(() => {
  const report = gpuspy.data.report;
  const durations = [["time_ns", "total", "ns"], ["avg_ns", "avg", "ns"], ["med_ns", "med", "ns"], ["min_ns", "min", "ns"], ["max_ns", "max", "ns"]];

  const table = (title, remark, columns, rows) =>
    ({ title, remark, columns: columns.map(([name, heading, unit]) => ({ name, title: heading, unit })), rows, notes: [] });

  const groups = report ? [
    { id: "libraries", title: "Libraries", tables: {
      owners: table("GPU time by owner", "a library owns what is launched inside its calls, else the object that called",
        [["owner", "owner", "text"], ["share_of_kernels", "% kernels", "share"], ["time_ns", "total", "ns"],
          ["count", "launched", "count"], ["kernels", "kernels", "count"]], report.owners) } },
    { id: "sync", title: "Synchronisation", tables: {
      calls: table("Waits by call", "outermost blocking calls; GPU busy: it had work meanwhile",
        [["name", "call", "text"], ["library", "library", "text"], ["time_ns", "time", "ns"],
          ["share_of_wall", "% wall", "share"], ["gpu_busy_ns", "GPU busy", "ns"]], report.sync.calls),
      threads: table("Threads that waited", "", [["name", "name", "text"], ["tid", "thread", "count"], ["time_ns", "time", "ns"],
        ["share_of_wall", "% wall", "share"]], report.sync.threads) } },
    { id: "memory", title: "Memory", tables: {
      copies: table("Copies and sets", "by direction",
        [["direction", "direction", "text"], ["count", "count", "count"], ["bytes", "bytes", "bytes"],
          ["gb_per_s", "GB/s", "GB/s"], ...durations], report.copies) } },
    { id: "communication", title: "Communication", needsRows: true, tables: {
      collectives: table("Collectives", "time is the host's, in the calls",
        [["name", "call", "text"], ["datatype", "type", "text"], ["communicator", "communicator", "count"], ["rank", "rank", "count"],
          ["ranks", "of", "count"], ["count", "count", "count"], ["failed", "failed", "count"], ["bytes", "bytes", "bytes"],
          ["host_ns", "host", "ns"]], report.collectives) } },
  ] : [];

  /// {id: {title, tables}} of what the views that are here do not show.
  gpuspy.reportTables = (views) => groups.filter((group) => !(group.id in views) &&
    !(group.needsRows && Object.values(group.tables).every((one) => one.rows.length === 0)));

  const facts = (section, rows) => {
    const list = gpuspy.add(section, "dl", "facts");
    for (const [name, value] of rows) {
      if (value === null || value === undefined || value === "") continue;
      gpuspy.add(list, "dt", "", name);
      gpuspy.add(list, "dd", "", value);
    }
  };

  /// What ran and what the recording cost.
  gpuspy.run = () => {
    if (!report) return;
    const section = gpuspy.section("run", "The run");
    const { process, launches, overhead, reading } = report;
    const count = (value) => gpuspy.format(value, "count");
    facts(section, [
      ["command", (process.argv || []).join(" ")],
      ["process", process.pid && `pid ${process.pid} on ${process.host}, ${count(process.threads)} threads with CUDA calls` +
        (process.rank === null ? "" : `, rank ${process.rank}`)],
      ["began", process.start_realtime_ns && new Date(process.start_realtime_ns / 1e6).toISOString()],
      ["end", process.end],
      ...process.gpus.map((gpu) => [`GPU ${gpu.ordinal}`, `${gpu.name}, ${gpu.sm_count} SMs, compute ` +
        `${gpu.compute_capability.join(".")}, ${gpuspy.format(gpu.memory_bytes, "bytes")}`]),
      ["versions", Object.entries(process.info).map(([name, value]) => `${name.replace(/_version$/, "")} ${value}`).join(", ")],
      ["libraries", process.libraries.map((library) => [library.name, library.version].filter(Boolean).join(" ")).join(", ")],
      ["launches", `${count(launches.host)}: captured ${count(launches.captured)}, failed ${count(launches.failed)}, without device ` +
        `times ${count(launches.untimed)}, graph launches ${count(launches.graph_launches)} of ${count(launches.graph_nodes)} kernels`],
      ["lost", Object.entries(launches.dropped).map(([cause, lost]) => `${cause} ${count(lost)}`).join(", ")],
      ["cost of gpuspy", overhead.known ? `about ${gpuspy.format(overhead.total_ns, "ns")}, ` +
        `${gpuspy.format(overhead.share_of_wall, "share")} of wall time; not what CUPTI costs in the driver and on the GPU` : "not known"],
      ["trace", `${gpuspy.format(reading.file_bytes, "bytes")}, format ${reading.format}` + (reading.partial ? `; ${reading.faults}` : "")],
      ["notices", process.notices.join("; ")],
    ]);
    if (launches.unmatched.length > 0) {
      gpuspy.table(section, "run.unmatched", table("Unmatched", "launches without a record, records without a launch",
        [["name", "kernel", "text"], ["launches", "launches", "count"], ["records", "records", "count"],
          ["not_returned", "not returned", "count"]], launches.unmatched));
    }
  };
})();
