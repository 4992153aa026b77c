// The charts of a page: one list of them, drawn of the page's data with uPlot. Must not know tables.
// Invariants: all charts share one time axis and one cursor; a series that has no value is not drawn,
// and a chart without a series is not shown; lines differ by more than their colour.
"use strict";
const charts = (() => {
  const KEY = "loadline";
  const HEIGHT = 220;
  const perSecond = (name) => (data) =>
    data[name].map((value, row) => (value === null ? null : value / (data.span[row] / 1e9)));
  // What is due and dropped are iterations: they stand among requests only where the two are one.
  const ofScripts = (isScript, name) => (data) =>
    data.is_script === isScript ? perSecond(name)(data) : data.at.map(() => null);
  const plain = (name) => (data) => data[name];
  const bad = (data) =>
    data.completed.map((value, row) => (value - data.good[row]) / (data.span[row] / 1e9));
  // Of the requests that ended, in percent.
  const badShare = (data) =>
    data.completed.map((value, row) => {
      const ended = value + data.failed[row];
      return ended > 0 ? (100 * (ended - data.good[row])) / ended : null;
    });
  const thousandths = (name) => (data) => data[name].map((value) => (value === null ? null : value / 1000));
  const percentiles = (letter) => [
    { label: "p50", values: plain(`${letter}50`), colour: 0 },
    { label: "p90", values: plain(`${letter}90`), colour: 3, dash: [6, 3] },
    { label: "p99", values: plain(`${letter}99`), colour: 2, dash: [2, 2] },
  ];
  // With five colours no two of twenty lines are drawn alike.
  const DASHES = [undefined, [6, 3], [2, 2], [8, 3, 2, 3]];
  const some = (values) => values.some((value) => value !== null && value !== 0);

  const LIST = {
    rate: {
      unit: formats.rate,
      tick: formats.rateTick,
      series: [
        { label: "offered", values: ofScripts(false, "offered"), colour: 4, dash: [6, 3], width: 2 },
        { label: "answered", values: perSecond("completed"), colour: 0, keep: true },
        { label: "good", values: perSecond("good"), colour: 3, fill: true },
      ],
    },
    iterations: {
      unit: formats.rate,
      tick: formats.rateTick,
      series: [
        { label: "due", values: ofScripts(true, "offered"), colour: 4, dash: [6, 3], width: 2 },
        { label: "dropped", values: ofScripts(true, "dropped"), colour: 2, dash: [2, 2] },
      ],
    },
    heat: { isHeat: true },
    percentiles: { make: (figure, colours) => distribution.curve(data, colours, widthOf(figure), roundOnes) },
    histogram: { make: (figure, colours) => distribution.histogram(data, colours, widthOf(figure)) },
    service: { unit: formats.span, tick: formats.tick, isLog: true, series: percentiles("s") },
    response: { unit: formats.span, tick: formats.tick, isLog: true, series: percentiles("r") },
    errors: {
      unit: formats.rate,
      tick: formats.rateTick,
      series: [
        { label: "failed", values: perSecond("failed"), colour: 2 },
        { label: "wrong responses", values: bad, colour: 1, dash: [6, 3] },
        { label: "dropped", values: ofScripts(false, "dropped"), colour: 4, dash: [2, 2] },
      ],
    },
    share: { unit: formats.percent, tick: formats.percentTick, series: [{ label: "wrong or failed", values: badShare, colour: 2, fill: true }] },
    failures: {
      unit: formats.rate,
      tick: formats.rateTick,
      series: (data) => Object.keys(data.failures).sort().map((label, place) => ({
        label,
        values: () => data.failures[label].map((count, row) => count / (data.span[row] / 1e9)),
        colour: (place + 2) % 5,
        dash: DASHES[place % DASHES.length],
      })),
    },
    vus: {
      unit: formats.level,
      incrs: [1, 2, 5].flatMap((step) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((size) => step * size)).sort((a, b) => a - b),
      series: [
        { label: "busy", values: plain("vus"), colour: 0, keep: true },
        { label: "arrivals waiting", values: plain("waiting"), colour: 2, dash: [6, 3] },
      ],
    },
    transfer: {
      unit: formats.byteRate,
      tick: (n) => `${formats.byteTick(n)}/s`,
      series: [
        { label: "received", values: perSecond("received"), colour: 0 },
        { label: "sent", values: perSecond("sent"), colour: 1, dash: [6, 3] },
      ],
    },
    cpu: {
      unit: formats.cores,
      tick: formats.coreTick,
      series: [
        { label: "process", values: thousandths("cpu"), colour: 0 },
        { label: "busiest worker", values: thousandths("busiest"), colour: 1, dash: [6, 3] },
      ],
    },
    // Of one name, below its row of the table.
    "name-rate": {
      unit: formats.rate,
      tick: formats.rateTick,
      series: [
        { label: "requests", values: perSecond("completed"), colour: 0, keep: true },
        { label: "failed", values: perSecond("failed"), colour: 2, dash: [2, 2] },
      ],
    },
    "name-times": { unit: formats.span, tick: formats.tick, isLog: true, series: percentiles("s").filter(({ label }) => label !== "p90") },
    memory: { unit: formats.bytes, tick: formats.byteTick, series: [{ label: "resident", values: plain("rss"), colour: 0, fill: true }] },
  };

  // A quantity that observers read; the end of its name is its unit.
  const UNITS = [
    ["_cores", formats.cores, formats.coreTick, 1],
    ["_bytes_per_s", formats.byteRate, (n) => `${formats.byteTick(n)}/s`, 1],
    ["_bytes", formats.bytes, formats.byteTick, 1],
    ["_seconds", formats.span, formats.tick, 1e9],
    ["_ratio", formats.percent, formats.percentTick, 100],
    ["_per_s", formats.rate, formats.rateTick, 1],
    ["", (n) => (n === null ? "–" : String(+n.toPrecision(4))), (n) => String(+n.toPrecision(3)), 1],
  ];
  const OBSERVED = "observed:";
  const observed = (metric) => {
    const [, unit, tick, factor] = UNITS.find(([end]) => metric.endsWith(end));
    const values = (label) => data.observed[metric][label].map((value) => (value === null ? null : value * factor));
    const series = (data) => Object.keys(data.observed[metric] || {}).sort().map((label, place) => ({
      label,
      values: () => values(label),
      colour: place % 5,
      dash: label.endsWith(" limit") ? [8, 3, 2, 3] : DASHES[Math.floor(place / 5) % 3],
      keep: true,
    }));
    return { unit, tick, series };
  };
  const chartOf = (id) => (id.startsWith(OBSERVED) ? observed(id.slice(OBSERVED.length)) : LIST[id]);

  // A figure; `rows`: columns of its own instead of the page's.
  const figureOf = (id, title, about, rows) => {
    const figure = Object.assign(document.createElement("figure"), { hidden: true, rows });
    figure.dataset.chart = id;
    const caption = document.createElement("figcaption");
    caption.append(Object.assign(document.createElement("h3"), { textContent: title }));
    caption.append(Object.assign(document.createElement("span"), { textContent: about }));
    const plot = Object.assign(document.createElement("div"), { className: "plot", tabIndex: 0, role: "group" });
    plot.setAttribute("aria-label", title);
    figure.append(caption, plot);
    return figure;
  };

  // A figure for each quantity that is observed, after those that every page has.
  const addFigures = () => {
    for (const metric of Object.keys(data.observed)) {
      const id = OBSERVED + metric;
      if (document.querySelector(`figure[data-chart="${id}"]`)) continue;
      const title = { cpu_cores: "CPU", memory_bytes: "Memory" }[metric] || metric.replaceAll("_", " ");
      const figure = figureOf(id, `Observed: ${title}`, "of the service under test");
      document.querySelector(".charts").append(figure);
    }
  };

  const unpacked = (told) => ({ ...told, heat: told.heat.map(heat.cells) });
  let data = unpacked(JSON.parse(document.getElementById("data").textContent));
  let drawn = [];
  let zoom = null;
  // The room that the charts have for words of marks.
  let roomed = 0;
  // While a page is printed its width is not known: paper of A4 or Letter has room for this much.
  const PAPER = { wide: 660, half: 305 };
  let isPaper = false;

  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => ({
    lines: [0, 1, 2, 3, 4].map((place) => variable(`--line-${place}`)),
    ink: variable("--soft"),
    grid: variable("--grid"),
    mark: variable("--alarm"),
    limit: variable("--ink"),
    shade: variable("--shade"),
    ramp: variable("--ramp").split(" ").map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))),
  });

  // What a figure draws.
  const rowsOf = (figure) => (figure.rows ? { ...data, ...figure.rows } : data);

  // Lines stand at the end of what they tell of; a run's first row reaches back to its start.
  const times = (rows) => rows.at.map((at, row) => (at + rows.span[row]) / 1e9);
  const end = () => {
    const last = data.at.length - 1;
    return last < 0 ? 1 : (data.at[last] + data.span[last]) / 1e9;
  };

  // Steps of the time axis, in seconds.
  const TIMES = [
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
    [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
    [1, 2, 3, 6, 12, 24, 48, 96, 192].map((hours) => hours * 3600),
  ].flat();

  // Room for the longest label of an axis, and the same for most of them.
  const roomFor = (_, labels) => Math.max(66, 8 + 7 * Math.max(0, ...(labels || []).map((label) => (label || "").length)));

  const axes = (colours, y) => {
    const font = "12px system-ui, sans-serif";
    const common = { stroke: colours.ink, font, grid: { stroke: colours.grid, width: 1 }, ticks: { show: false } };
    return [
      { ...common, size: 28, space: 70, incrs: TIMES, values: (_, ticks) => ticks.map(formats.clock) },
      { ...common, size: roomFor, gap: 6, ...y },
    ];
  };

  // On an axis of logarithms: 1, 2 and 5 of each decade have a label, over many decades 1 alone.
  const roundOnes = (u, ticks) => {
    const isWide = u.scales.y.max / u.scales.y.min > 2000;
    const named = isWide ? "1" : "125";
    return ticks.map((tick) => (named.includes(tick.toExponential()[0]) ? tick : null));
  };

  const isWide = (figure) => ["rate", "heat"].includes(figure.dataset.chart);

  const widthOf = (figure) => {
    if (isPaper) return isWide(figure) ? PAPER.wide : PAPER.half;
    return Math.max(figure.querySelector(".plot").clientWidth, 240);
  };

  const base = (figure, colours) => ({
    width: widthOf(figure),
    height: HEIGHT + overlay.room(data, isWide(figure)),
    padding: [10 + overlay.room(data, isWide(figure)), 12, 0, 0],
    cursor: { sync: { key: KEY }, drag: { x: true, y: false }, focus: { prox: -1 } },
    scales: { x: { time: false, range: () => zoom || [0, end()] } },
    hooks: {
      drawClear: [(u) => overlay.marks(u, data, colours, isWide(figure))],
      setSelect: [
        (u) => {
          if (u.select.width > 4) {
            look([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
          }
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
    },
  });

  const timeSeries = () => ({
    label: "time",
    value: (_, second) => (second === null ? "–" : `${formats.clock(second)} ${formats.wall(data.began, second)}`),
  });

  // What a legend says while nothing is pointed at: a line as a whole, its rows weighing alike.
  const whole = (values, unit) => {
    const known = values.filter((value) => value !== null && value !== undefined);
    if (known.length === 0) return "–";
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const most = known.reduce((max, value) => Math.max(max, value), -Infinity);
    return `last ${unit(known[known.length - 1])} · mean ${unit(mean)} · max ${unit(most)}`;
  };

  const lines = (figure, chart, colours) => {
    const rows = rowsOf(figure);
    const all = typeof chart.series === "function" ? chart.series(rows) : chart.series;
    const shown = all.filter((series) => (series.keep && rows.at.length > 0) || some(series.values(rows)));
    if (shown.length === 0) return null;
    const options = base(figure, colours);
    options.cursor.drag.setScale = false;
    const tick = chart.tick || chart.unit;
    const thresholds = overlay.thresholdsOf(data, figure.dataset.chart, tick);
    options.scales.y = chart.isLog ? { distr: 3, range: overlay.logarithmic(thresholds) } : { range: overlay.linear(thresholds) };
    options.hooks.draw = [overlay.limits(thresholds, colours)];
    const y = { values: (_, ticks) => ticks.map((at) => (at === null ? "" : tick(at))) };
    if (chart.incrs) y.incrs = chart.incrs;
    if (chart.isLog) y.filter = roundOnes;
    options.axes = axes(colours, y);
    options.series = [timeSeries()].concat(
      shown.map((series) => ({
        label: series.label,
        stroke: colours.lines[series.colour],
        width: series.width || 1.5,
        dash: series.dash,
        fill: series.fill ? `${colours.lines[series.colour]}22` : undefined,
        points: { show: () => rows.at.length < 3 },
        value: (u, value, place, at) => (at === null || at === undefined ? whole(u.data[place], chart.unit) : chart.unit(value)),
      })),
      overlay.series(thresholds, colours),
    );
    options.legend = { markers: { dash: (_, place) => distribution.dashOf(options.series[place].dash) } };
    const values = () => {
      const now = rowsOf(figure);
      const none = thresholds.map(() => now.at.map(() => null));
      return [times(now)].concat(shown.map((series) => series.values(now)), none);
    };
    return { options, values, names: shown.map((series) => series.label) };
  };

  const heatMap = (figure, colours) => {
    const range = heat.range(data.heat);
    if (range === null) return null;
    const options = base(figure, colours);
    options.height += 60;
    options.cursor.drag.setScale = false;
    const say = (text) => {
      figure.querySelector(".under").textContent = text;
    };
    options.scales.y = { range: () => heat.range(data.heat) || [0, 1] };
    options.axes = axes(colours, {
      grid: { show: false },
      splits: (u) => heat.splits(u.scales.y.min, u.scales.y.max, u.height / 30),
      values: (_, ticks) => ticks.map((band) => formats.tick(heat.timeOf(band))),
    });
    options.series = [timeSeries(), { label: "requests", show: true, paths: () => null, points: { show: false } }];
    options.legend = { show: false };
    options.hooks.draw = [
      (u) => {
        const most = heat.draw(u, data, colours.ramp);
        figure.querySelector(".most").textContent = formats.rate(most);
      },
    ];
    options.hooks.setCursor = [
      (u) => {
        const { left, top } = u.cursor;
        const second = left >= 0 ? u.posToVal(left, "x") : null;
        const inside = second !== null && top >= 0;
        say(inside ? `${formats.clock(second)} · ${heat.under(data, second, u.posToVal(top, "y"))}` : "");
      },
    ];
    const scale = document.createElement("p");
    scale.className = "scale";
    const ramp = Object.assign(document.createElement("span"), { className: "ramp" });
    ramp.style.background = `linear-gradient(to right, ${variable("--ramp").split(" ").join(", ")})`;
    scale.append("1/s ", ramp, " ");
    scale.append(Object.assign(document.createElement("span"), { className: "most" }), " ");
    scale.append(Object.assign(document.createElement("span"), { className: "under" }));
    figure.querySelector(".plot").after(scale);
    return { options, values: () => [times(data), data.at.map(() => null)], names: [] };
  };

  const makeOf = (chart, figure, colours) => {
    if (chart.isHeat) return heatMap(figure, colours);
    return chart.make ? chart.make(figure, colours) : lines(figure, chart, colours);
  };

  const draw = (figure, colours) => {
    figure.hidden = false;
    const made = makeOf(chartOf(figure.dataset.chart), figure, colours);
    figure.hidden = made === null;
    if (made === null) return;
    drawn.push({ figure, made, u: new uPlot(made.options, made.values(), figure.querySelector(".plot")) });
  };

  const build = () => {
    for (const { u } of drawn) u.destroy();
    for (const scale of document.querySelectorAll("figure .scale")) scale.remove();
    drawn = [];
    roomed = overlay.room(data, true);
    const colours = palette();
    addFigures();
    for (const figure of document.querySelectorAll("figure[data-chart]")) draw(figure, colours);
    document.documentElement.dataset.charts = String(drawn.length);
  };

  // Shows a part of the time on every chart; null: all of it.
  const look = (range) => {
    zoom = range;
    for (const { u } of drawn.filter(({ made }) => !made.isOwn)) u.setScale("x", { min: (range || [0])[0], max: range ? range[1] : end() });
  };

  // Draws the data anew; the charts themselves too where another series has come to have a value.
  const refresh = () => {
    const colours = palette();
    addFigures();
    const isFirst = overlay.room(data, true) !== roomed;
    const changed = isFirst || [...document.querySelectorAll("figure[data-chart]")].some((figure) => {
      const chart = chartOf(figure.dataset.chart);
      const known = drawn.find((one) => one.figure === figure);
      if (chart.isHeat) return (heat.range(data.heat) === null) === (known !== undefined);
      const made = makeOf(chart, figure, colours);
      return String(made && made.names) !== String(known ? known.made.names : null);
    });
    if (changed) return build();
    for (const { u, made } of drawn) u.setData(made.values());
  };

  const onKey = (u) => (event) => {
    const [from, to] = [u.scales.x.min, u.scales.x.max];
    const middle = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : (from + to) / 2;
    // What is under the cursor stays there.
    const around = (part) =>
      look([Math.max(0, middle - (middle - from) * part), Math.min(end(), middle + (to - middle) * part)]);
    const move = (steps) => {
      const xs = u.data[0];
      const at = u.cursor.idx === null || u.cursor.idx === undefined ? -1 : u.cursor.idx;
      const next = Math.min(Math.max(at + steps, 0), xs.length - 1);
      u.setCursor({ left: u.valToPos(xs[next], "x"), top: u.bbox.height / devicePixelRatio / 2 }, true, true);
    };
    const step = event.shiftKey ? 10 : 1;
    const acts = {
      ArrowLeft: () => move(-step),
      ArrowRight: () => move(step),
      "+": () => around(0.5),
      "-": () => around(2),
      Escape: () => look(null),
    };
    if (acts[event.key]) {
      acts[event.key]();
      event.preventDefault();
    }
  };

  document.addEventListener("keydown", (event) => {
    const found = drawn.find(({ figure, made }) => !made.isOwn && figure.contains(event.target));
    if (found) onKey(found.u)(event);
  });
  document.addEventListener("dblclick", (event) => {
    if (drawn.some(({ figure }) => figure.contains(event.target))) look(null);
  });
  new ResizeObserver(() => {
    for (const { u, figure } of drawn) {
      const width = widthOf(figure);
      if (width !== u.width) u.setSize({ width, height: u.height });
    }
  }).observe(document.querySelector(".charts"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
  // Paper is light.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    isPaper = true;
    build();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.theme;
    isPaper = false;
    build();
  });

  build();
  return {
    figure: figureOf,
    // Figures that stand beside each other: all are shown before the first is drawn, since each is as wide as the
    // others leave it.
    draw(figures) {
      figures.forEach((figure) => (figure.hidden = false));
      figures.forEach((figure) => draw(figure, palette()));
    },
    // Forgets a figure that leaves the page.
    drop(figure) {
      drawn.filter((one) => one.figure === figure).forEach(({ u }) => u.destroy());
      drawn = drawn.filter((one) => one.figure !== figure);
    },
    // All rows anew.
    replace(whole) {
      data = unpacked(whole);
      build();
    },
    // One more row.
    append(told) {
      const { failures, ...row } = told.row;
      row.heat = heat.cells(row.heat);
      for (const [name, value] of Object.entries(row)) data[name].push(value);
      for (const name of Object.keys(failures)) data.failures[name] ??= Array(data.at.length - 1).fill(0);
      for (const [name, counts] of Object.entries(data.failures)) counts.push(failures[name] || 0);
      const rows = data.at.length;
      for (const [metric, lines] of Object.entries(told.observed)) {
        data.observed[metric] ??= {};
        for (const label of Object.keys(lines)) data.observed[metric][label] ??= Array(rows - 1).fill(null);
      }
      for (const [metric, lines] of Object.entries(data.observed)) {
        for (const [label, values] of Object.entries(lines)) values.push(told.observed[metric]?.[label] ?? null);
      }
      data.is_script = told.is_script;
      if (told.is_warm_up) data.warm_up = told.row.at + told.row.span;
      data.marks = told.marks;
      refresh();
    },
  };
})();
