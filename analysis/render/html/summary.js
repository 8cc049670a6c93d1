"use strict";
// What a person wants to know first.
(() => {
  const report = gpuspy.data.report;

  const tile = (parent, id, title, value, unit, about) => {
    const box = gpuspy.add(parent, "div", "tile");
    gpuspy.add(box, "div", "tile-title", title);
    const number = gpuspy.add(box, "div", "tile-value", gpuspy.format(value, unit));
    number.id = `summary.${id}`;
    gpuspy.add(box, "div", "tile-about", about);
  };
  const ofWall = (share) => (share === null ? "" : `${gpuspy.format(share, "share")} of wall time`);
  const count = (value, one, many) => `${gpuspy.format(value, "count")} ${value === 1 ? one : many}`;

  const tiles = (section) => {
    const box = gpuspy.add(section, "div", "tiles");
    const { gpu, api, cpu, sync, launches } = report;
    tile(box, "wall_ns", "Wall time", report.wall_ns, "ns",
      cpu.known ? `CPU time ${gpuspy.format(cpu.user_ns + cpu.system_ns, "ns")}` : "");
    tile(box, "busy_ns", "GPU busy", gpu.busy_ns, "ns", ofWall(gpu.utilisation));
    tile(box, "gpu_time_ns", "GPU time", gpu.time_ns, "ns",
      gpu.time_ns === null ? "not recorded" : `${gpu.concurrency.toFixed(2)} in flight while busy`);
    tile(box, "launches", "Launches", launches.host, "count", count(launches.device_records, "kernel ran", "kernels ran"));
    tile(box, "api_ns", "API time", api.time_ns, "ns", `${ofWall(api.share_of_wall)}, ${count(api.threads, "thread", "threads")}`);
    tile(box, "sync_ns", "Synchronisation", sync.time_ns, "ns",
      sync.gpu_busy_ns === null ? ofWall(sync.share_of_wall)
        : `${ofWall(sync.share_of_wall)}; GPU busy in ${gpuspy.format(sync.gpu_busy_ns, "ns")}`);
  };

  const completeness = (section) => {
    const { launches, reading } = report;
    const box = gpuspy.add(section, "div", launches.complete ? "banner good" : "banner bad");
    box.id = "summary.complete";
    gpuspy.add(box, "strong", "", launches.complete ? "Complete" : "Not complete");
    gpuspy.add(box, "span", "", launches.complete
      ? `${gpuspy.format(launches.expected, "count")} expected kernel records, all matched; no record without a launch`
      : launches.reasons.join("; "));
    if (reading.partial) {
      const partial = gpuspy.add(section, "div", "banner bad");
      gpuspy.add(partial, "strong", "", "Partly readable");
      gpuspy.add(partial, "span", "", reading.faults);
    }
  };

  /// A view may say in a sentence what bounds the run: the notes of its table `verdict`.
  const verdict = (section) => {
    for (const tables of Object.values(gpuspy.data.views?.views || {})) {
      if (!tables.verdict || tables.verdict.rows.length === 0) continue;
      const box = gpuspy.add(section, "div", "banner verdict");
      box.id = "summary.verdict";
      // Views may be of a part of the recording, the rest of this section is of all of it.
      const of = gpuspy.data.part ? "The part that is shown: " : "";
      gpuspy.add(box, "strong", "", of + tables.verdict.rows.map((row) => row.verdict).join(", "));
      gpuspy.add(box, "span", "", tables.verdict.notes.join(" "));
    }
    if (!gpuspy.data.part && report.steady) {
      const box = gpuspy.add(section, "div", "banner verdict");
      box.id = "summary.steady";
      gpuspy.add(box, "strong", "", "Steady state");
      gpuspy.add(box, "span", "", report.steady.verdict.text);
    }
  };

  const charts = (section) => {
    const { gpu, api, cpu, sync } = report;
    const box = gpuspy.add(section, "div", "charts");
    const shares = [
      ["GPU busy", gpu.utilisation, "--series-1", "mean over the GPUs that did something"],
      ["API, all threads", api.share_of_wall, "--series-2", "outermost hooked calls, summed over threads"],
      ["a thread waits", report.wall_ns ? sync.any_thread_ns / report.wall_ns : null, "--wait", "some thread is in a blocking call"],
      ["CPU, all threads", cpu.known ? cpu.share_of_wall : null, "--series-rest", "user and system, of the whole process"],
    ].filter(([, share]) => share !== null);
    gpuspy.bars(box, "Share of wall time",
      shares.map(([label, value, colour, about]) => ({ label, value, about, colour: () => gpuspy.colour(colour) })), "share",
      { max: shares.every(([, share]) => share <= 1) ? 1 : undefined, height: 200 });
    const owners = report.owners.filter((row) => row.time_ns > 0);
    if (owners.length > 0) {
      const shown = owners.slice(0, 7);
      const slices = shown.map((row) => ({ label: row.owner, value: row.time_ns, colour: () => gpuspy.ownerColour(row.owner) }));
      const rest = owners.slice(7).reduce((sum, row) => sum + row.time_ns, 0);
      if (rest > 0) slices.push({ label: `${owners.length - 7} others`, value: rest, colour: () => gpuspy.colour("--series-rest") });
      gpuspy.shares(box, "GPU time of kernels by owner", slices, "ns", "a library owns what is launched inside its calls");
    }
  };

  gpuspy.summary = () => {
    if (!report) return;
    const section = gpuspy.section("summary", "Summary");
    verdict(section);
    completeness(section);
    tiles(section);
    charts(section);
  };
})();
