"use strict";
// Numbers as a person reads them: the same digits as analysis/render/display_text.cpp gives.
(() => {
  const notKnown = "–";
  const decimals = (value) => (value < 10 ? 3 : value < 100 ? 2 : 1);

  const scaled = (value, step, least, units) => {
    let unit = 0;
    while (value >= least && unit + 1 < units.length) {
      value /= step;
      ++unit;
    }
    return `${value.toFixed(decimals(value))} ${units[unit]}`;
  };

  const duration = (ns) => {
    const length = Math.abs(ns);
    const text = length < 1000 ? `${Math.round(length)} ns` : scaled(length / 1000, 1000, 999.95, ["µs", "ms", "s"]);
    return ns < 0 ? `-${text}` : text;
  };

  const bytes = (count) =>
    count < 1024 ? `${count} B` : scaled(count / 1024, 1024, 1023.95, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);

  const three = (value, unit) => {
    const prefixes = ["", "k", "M", "G", "T", "P", "E"];
    let prefix = 0;
    while (Math.abs(value) >= 999.5 && prefix + 1 < prefixes.length) {
      value /= 1000;
      ++prefix;
    }
    const size = Math.abs(value);
    return `${value.toFixed(prefix === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ${prefixes[prefix]}${unit}`;
  };

  const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const by_unit = {
    text: (value) => String(value),
    count: (value) => grouped.format(value),
    ns: duration,
    bytes,
    share: (value) => `${(100 * value).toFixed(1)} %`,
    number: (value) => (Number.isInteger(value) && Math.abs(value) >= 100 ? grouped.format(value) : value.toFixed(2)),
    "GB/s": (value) => `${value.toFixed(value < 10 ? 3 : 1)} GB/s`,
    FLOP: (value) => three(value, "FLOP"),
    "FLOP/s": (value) => three(value, "FLOP/s"),
  };

  /// A cell of a table. Units of a newer report are shown as they are.
  gpuspy.format = (value, unit) => {
    if (value === null || value === undefined) return notKnown;
    if (typeof value !== "number") return String(value);
    return (by_unit[unit] || String)(value);
  };

  /// A long name for a label: the middle gives way.
  gpuspy.shortened = (text, most) =>
    text.length <= most ? text : `${text.slice(0, most / 2 - 1)}…${text.slice(-most / 2)}`;

  const names = new Map((gpuspy.data.names || gpuspy.data.overview?.names || []).map((name) => [name.text, name.short]));
  /// A kernel's own name without what stands around it, where the page knows the kernel.
  gpuspy.ownName = (text) => names.get(text) || text;
  gpuspy.shortName = (text, most = 44) => gpuspy.shortened(gpuspy.ownName(text), most);
})();
