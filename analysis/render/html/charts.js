"use strict";
// Charts by Chart.js in the page's colours, light or dark.
(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  gpuspy.colour = colour;

  // The colours of owners, of which a person tells about eight apart: the ones with most GPU time have their own.
  const ownColours = 8;
  const owners = (gpuspy.data.report?.owners || []).map((row) => row.owner);
  gpuspy.ownerColour = (owner) => {
    let at = owners.indexOf(owner);
    if (at < 0) at = owners.push(owner) - 1;
    return colour(at < ownColours && owner !== "unknown" ? `--series-${at + 1}` : "--series-rest");
  };
  gpuspy.seriesColour = (at) => colour(at < ownColours ? `--series-${at + 1}` : "--series-rest");

  const setDefaults = () => {
    const font = getComputedStyle(document.body);
    Object.assign(Chart.defaults, { animation: false, responsive: true, maintainAspectRatio: false,
      color: colour("--text-soft"), borderColor: colour("--line") });
    Object.assign(Chart.defaults.font, { family: font.fontFamily, size: 12 });
  };

  const drawn = [];
  const draw = (entry) => {
    entry.chart?.destroy();
    entry.chart = new Chart(entry.canvas, entry.configuration());
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    setDefaults();
    drawn.forEach(draw);
    gpuspy.timelineRedraw?.();
  });
  // Paper has another width than the window.
  addEventListener("beforeprint", () => drawn.forEach((entry) => entry.chart.resize()));
  setDefaults();

  /// A chart with a title. `configuration`: makes Chart.js's, anew whenever colours change. `height` in pixels.
  gpuspy.chart = (parent, title, height, configuration, about) => {
    const figure = gpuspy.add(parent, "figure");
    const caption = gpuspy.add(figure, "figcaption", "", title);
    if (about) gpuspy.add(caption, "span", "remark", about);
    const box = gpuspy.add(figure, "div", "canvas");
    box.style.height = `${height}px`;
    const canvas = gpuspy.add(box, "canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", about ? `${title}: ${about}` : title);
    const entry = { canvas, configuration };
    drawn.push(entry);
    draw(entry);
    return figure;
  };

  const valueAxis = (unit, extra = {}) => ({
    beginAtZero: true, border: { display: false }, grid: { drawBorder: false },
    ticks: { maxTicksLimit: 6, callback: (value) => gpuspy.tick(value, unit) },
    // Round numbers of bytes are powers of two.
    afterDataLimits: (axis) => {
      if (unit === "bytes") axis.options.ticks.stepSize = 2 ** Math.ceil(Math.log2(Math.max(1, axis.max / 5)));
    },
    ...extra,
  });
  /// A round number at an axis: without the digits that say nothing.
  gpuspy.tick = (value, unit) => gpuspy.format(value, unit).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");

  const nameAxis = () => ({ grid: { display: false, drawBorder: false }, ticks: { autoSkip: false } });

  /// Bars. `bars`: [{label, value, colour, about}], from the top or from the left.
  gpuspy.bars = (parent, title, bars, unit, options = {}) => {
    const across = !options.upright;
    const height = options.height || (across ? 26 * bars.length + 44 : 220);
    return gpuspy.chart(parent, title, height, () => ({
      type: "bar",
      data: {
        labels: bars.map((bar) => bar.label),
        datasets: [{ data: bars.map((bar) => bar.value), backgroundColor: bars.map((bar) => bar.colour()),
          borderRadius: 3, maxBarThickness: across ? 18 : 48 }],
      },
      options: {
        indexAxis: across ? "y" : "x",
        scales: across ? { x: valueAxis(unit, { max: options.max }), y: nameAxis() }
          : { y: valueAxis(unit, { max: options.max }),
              x: { ...nameAxis(), title: { display: Boolean(options.names), text: options.names || "" } } },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: {
            title: (items) => gpuspy.shortened(bars[items[0].dataIndex].full || bars[items[0].dataIndex].label, 100),
            label: (item) => gpuspy.format(item.raw, unit),
            afterLabel: (item) => bars[item.dataIndex].about || "",
          } },
        },
      },
    }), options.about);
  };

  /// Shares of a whole. `slices`: [{label, value, colour}], largest first.
  gpuspy.shares = (parent, title, slices, unit, about) => {
    const all = slices.reduce((sum, slice) => sum + slice.value, 0);
    const share = (slice) => gpuspy.format(slice.value / all, "share");
    return gpuspy.chart(parent, title, 200, () => ({
      type: "doughnut",
      data: { labels: slices.map((slice) => `${gpuspy.shortened(slice.label, 28)}   ${share(slice)}`),
        datasets: [{ data: slices.map((slice) => slice.value), backgroundColor: slices.map((slice) => slice.colour()),
          borderColor: colour("--card"), borderWidth: 2 }] },
      options: {
        cutout: "62%",
        plugins: {
          legend: { position: "right", labels: { boxWidth: 12, boxHeight: 12, padding: 10, color: colour("--text") } },
          tooltip: { callbacks: { label: (item) => `${slices[item.dataIndex].label}: ${gpuspy.format(item.raw, unit)}` } },
        },
      },
    }), about);
  };

  /// Lines over time. `series`: [{label, points: [{x: ns, y}], stepped}].
  gpuspy.lines = (parent, title, series, unit, about) => gpuspy.chart(parent, title, 200, () => ({
    type: "line",
    data: { datasets: series.map((one, at) => ({ label: one.label, data: one.points, stepped: one.stepped || false,
      borderColor: gpuspy.seriesColour(at), backgroundColor: gpuspy.seriesColour(at), borderWidth: 1.5, pointRadius: 0,
      pointHitRadius: 6 })) },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: { type: "linear", grid: { display: false }, ticks: { maxTicksLimit: 8, callback: (ns) => gpuspy.tick(ns, "ns") } },
        y: valueAxis(unit) },
      plugins: {
        legend: { display: series.length > 1, position: "top", align: "end", labels: { boxWidth: 12, boxHeight: 12 } },
        tooltip: { callbacks: { title: (items) => gpuspy.format(items[0].parsed.x, "ns"),
          label: (item) => `${item.dataset.label}: ${gpuspy.format(item.parsed.y, unit)}` } },
      },
    },
  }), about);
})();
