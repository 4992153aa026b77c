// The distribution of times: a percentile curve and a histogram. Must not know time axes or tables.
// Invariant: each chart has an axis of its own, and takes no part in what looks closer at time.
"use strict";
const distribution = (() => {
  const PER_DECADE = 12;
  const PER_DOUBLING = 4;
  const STYLES = {
    "service time": { colour: 0 },
    "response time": { colour: 2, dash: [6, 3] },
  };

  // 0 → p0, 1 → p90, 2 → p99, 3 → p99.9.
  const nameOf = (decade) => (decade < 0.01 ? "p0" : `p${+(100 * (1 - 10 ** -decade)).toPrecision(Math.ceil(decade) + 2)}`);

  const dashOf = (dash) => (dash === undefined ? "solid" : dash[0] > 2 ? "dashed" : "dotted");

  const options = (colours, width, axes, scales, series) => ({
    width,
    height: 280,
    padding: [10, 26, 0, 0],
    cursor: { drag: { x: false, y: false } },
    axes,
    scales,
    series,
    legend: { markers: { dash: (_, place) => dashOf(series[place].dash) } },
  });

  const axis = (colours, more) => ({
    stroke: colours.ink,
    font: "12px system-ui, sans-serif",
    grid: { stroke: colours.grid, width: 1 },
    ticks: { show: false },
    ...more,
  });

  const curve = (data, colours, width, roundOnes) => {
    const names = Object.keys(STYLES).filter((name) => (data.curve[name] || []).length > 1);
    if (names.length === 0) return null;
    const longest = Math.max(...names.map((name) => data.curve[name].length));
    const xs = Array.from({ length: longest }, (_, place) => place / PER_DECADE);
    const places = [0, Math.log10(2)].concat(Array.from({ length: 12 }, (_, place) => place + 1));
    const axes = [
      axis(colours, { size: 28, splits: (u) => places.filter((x) => x <= u.scales.x.max), values: (_, at) => at.map(nameOf) }),
      axis(colours, { size: 66, gap: 6, values: (_, at) => at.map((ns) => (ns === null ? "" : formats.tick(ns))), filter: roundOnes }),
    ];
    const series = [{ label: "percentile", value: (_, x) => (x === null ? "–" : nameOf(x)) }].concat(
      names.map((name) => ({
        label: name,
        stroke: colours.lines[STYLES[name].colour],
        dash: STYLES[name].dash,
        width: 2,
        points: { show: false },
        value: (_, ns) => formats.span(ns),
      })),
    );
    const scales = { x: { time: false, range: () => [0, (longest - 1) / PER_DECADE] }, y: { distr: 3 } };
    const values = () => [xs].concat(names.map((name) => xs.map((_, place) => data.curve[name][place] ?? null)));
    return { options: options(colours, width, axes, scales, series), values, names, isOwn: true };
  };

  // Requests of each band of the heat map, over all rows.
  const bands = (cells) => {
    const counts = new Map();
    for (const row of cells) {
      for (let at = 0; at < row.length; at += 2) counts.set(row[at], (counts.get(row[at]) || 0) + row[at + 1]);
    }
    return counts;
  };

  const histogram = (data, colours, width) => {
    const range = heat.range(data.heat);
    if (range === null) return null;
    const values = () => {
      const counts = bands(data.heat);
      const [low, high] = heat.range(data.heat);
      const xs = Array.from({ length: Math.ceil(high - low) + 1 }, (_, place) => low + place);
      return [xs, xs.map((band) => counts.get(band) || 0)];
    };
    const axes = [
      axis(colours, {
        size: 28,
        splits: (u) => heat.splits(u.scales.x.min, u.scales.x.max, u.width / 60),
        values: (_, at) => at.map((band) => formats.tick(2 ** (band / PER_DOUBLING))),
      }),
      axis(colours, { size: 66, gap: 6, values: (_, at) => at.map(formats.count) }),
    ];
    const between = (band) => `${formats.span(heat.timeOf(band))} to ${formats.span(heat.timeOf(band + 1))}`;
    const series = [
      { label: "service time", value: (_, band) => (band === null ? "–" : between(band)) },
      {
        label: "requests",
        stroke: colours.lines[0],
        fill: `${colours.lines[0]}55`,
        width: 1,
        points: { show: false },
        paths: uPlot.paths.bars({ size: [1, Infinity], align: 1 }),
        value: (_, count) => formats.count(count),
      },
    ];
    const scales = {
      x: { time: false, range: () => heat.range(data.heat) || [0, 1] },
      y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.05] },
    };
    return { options: options(colours, width, axes, scales, series), values, names: ["requests"], isOwn: true };
  };

  return { curve, histogram, dashOf };
})();
