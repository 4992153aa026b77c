// Numbers as people read them, in the forms that the tables use. Must not know charts.
// Invariant: every text carries its unit, and null is a dash.
"use strict";
const formats = (() => {
  const significant = (value, unit) =>
    `${Number.isInteger(value) ? value : value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;

  const known = (format) => (value) =>
    value === null || value === undefined || !Number.isFinite(value) ? "–" : format(value);

  const count = known((n) => Math.round(n).toLocaleString("en-US"));

  // A mean of few: one of three that was busy half of the time is not none.
  const level = known((n) => (n < 9.95 && !Number.isInteger(n) ? n.toFixed(1) : count(n)));

  const rate = known((n) => {
    const size = Math.abs(n), tenths = Math.round(n * 10) / 10;
    if (Number.isInteger(n) && n >= 0 && n < 1e6) return `${count(n)}/s`;
    if (size < 0.00005) return "below 0.0001/s";
    if (n < 9.995) return `${n.toFixed(size < 0.0095 ? 4 : size < 0.095 ? 3 : 2)}/s`;
    if (tenths < 1e6 && Number.isInteger(tenths)) return `${count(tenths)}/s`;
    if (tenths < 1000) return `${tenths.toFixed(1)}/s`;
    return n < 999999.5 ? `${count(n)}/s` : `${(n / 1e6).toFixed(2)}M/s`;
  });

  // A round rate for an axis.
  const rateTick = known((n) => (n >= 1e4 ? `${+(n / 1e3).toPrecision(3)}K/s` : `${+n.toPrecision(3) >= 1e3 ? count(n) : +n.toPrecision(3)}/s`));

  // A time in nanoseconds.
  const span = known((exact) => {
    const ns = Math.round(exact);
    if (ns < 999.5) return `${ns.toFixed(0)} ns`;
    if (ns < 999.5e3) return significant(ns / 1e3, "µs");
    if (ns < 999.5e6) return significant(ns / 1e6, "ms");
    if (ns < 99.95e9) return significant(ns / 1e9, "s");
    const s = Math.round(ns / 1e9);
    const two = (n) => String(Math.floor(n)).padStart(2, "0");
    return s < 3600 ? `${Math.floor(s / 60)}m ${two(s % 60)}s` : `${Math.floor(s / 3600)}h ${two((s % 3600) / 60)}m`;
  });

  // A round time for an axis: no digit that says nothing.
  const tick = known((ns) => {
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
    const [size, unit] = units.find(([size]) => ns >= size * 0.9999) || units[3];
    return `${+(ns / size).toPrecision(3)} ${unit}`;
  });

  // Seconds since the start of the run.
  const clock = known((s) => {
    const whole = Math.round(s);
    if (s < 59.5) return `${+s.toFixed(s < 1 ? 3 : s < 10 ? 1 : 0)} s`;
    const [h, m, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    if (h > 0) return `${h}h${m ? ` ${m}m` : ""}${rest ? ` ${rest}s` : ""}`;
    return `${m}m${rest ? ` ${String(rest).padStart(2, "0")}s` : ""}`;
  });

  const bytes = known((n) => {
    if (n < 999.5) return `${n.toFixed(0)} B`;
    if (n < 999950) return `${(n / 1e3).toFixed(1)} kB`;
    if (n < 999950e3) return `${(n / 1e6).toFixed(1)} MB`;
    if (n < 999995e6) return `${(n / 1e9).toFixed(2)} GB`;
    return `${(n / 1e12).toFixed(2)} TB`;
  });

  // Round bytes and cores for an axis.
  const byteTick = known((n) => {
    const place = [1e12, 1e9, 1e6, 1e3, 1].findIndex((size) => n >= size * 0.9999);
    const [size, unit] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]][place < 0 ? 4 : place];
    return `${+(n / size).toPrecision(3)} ${unit}`;
  });
  const coreTick = known((n) => `${+n.toPrecision(3)} cores`);

  const byteRate = known((n) => `${bytes(n)}/s`);
  const cores = known((n) => `${n.toFixed(2)} cores`);

  const percent = known((n) => `${n.toFixed(1)} %`);
  const percentTick = known((n) => `${+n.toPrecision(3)} %`);

  // The time of day, in UTC, so many seconds after the start.
  const wall = (startedMs, s) =>
    startedMs > 0 ? `${new Date(startedMs + s * 1000).toISOString().slice(11, 19)} UTC` : "";

  return { count, level, rate, rateTick, span, tick, clock, bytes, byteRate, byteTick, cores, coreTick, percent, percentTick, wall };
})();
