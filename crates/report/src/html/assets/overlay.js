// What stands over the lines of a chart: the warm-up, marks on the time axis, and the thresholds that it is
// held to. Must not know what a chart draws. Invariants: what is drawn is said in words too; a threshold that lies far from what was
// measured is told by the legend alone, and does not squash it.
"use strict";
const overlay = (() => {
  const DASH = [7, 4];
  // How far from what was measured a threshold may lie, as a factor, to be drawn beside it.
  const NEAR = { linear: 3, log: 10 };
  const ROW = 16;
  // Rows of words of marks above a chart.
  const ROWS = { wide: 2, narrow: 1 };

  // The thresholds of a chart, with their words.
  const thresholdsOf = (data, id, tick) =>
    data.thresholds.filter(({ chart }) => chart === id).map(({ value, words }) => ({ value, text: `${words} ${tick(value)}` }));

  // The range of an axis from zero, with the thresholds that are near.
  const linear = (thresholds) => (_, __, most) => {
    const near = thresholds.map(({ value }) => value).filter((value) => value <= most * NEAR.linear || !(most > 0));
    const top = Math.max(most || 0, ...near);
    return [0, top > 0 ? top * 1.08 : 1];
  };

  // The same of an axis of logarithms.
  const logarithmic = (thresholds) => (u, least, most) => {
    const near = thresholds.map(({ value }) => value).filter((value) => value >= least / NEAR.log && value <= most * NEAR.log);
    return uPlot.rangeLog(Math.min(least, ...near), Math.max(most, ...near), 10, false);
  };

  const isDrawn = (u, value) => value >= u.scales.y.min && value <= u.scales.y.max;

  // A place of its own in the legend for each threshold.
  const series = (thresholds, colours) =>
    thresholds.map(({ value, text }) => ({
      label: `threshold ${text}`,
      stroke: colours.limit,
      dash: DASH,
      width: 1.5,
      auto: false,
      paths: () => null,
      points: { show: false },
      value: (u) => (isDrawn(u, value) ? "dashed line" : `${value > u.scales.y.max ? "above" : "below"} what is drawn`),
    }));

  const tag = (u, className, text) => {
    const element = Object.assign(document.createElement("span"), { className: `tag ${className}`, textContent: text });
    u.over.append(element);
    return element;
  };

  // Draws the thresholds across the whole chart, each with its words at the right end.
  const limits = (thresholds, colours) => (u) => {
    for (const old of u.over.querySelectorAll(".tag.limit")) old.remove();
    const shown = thresholds.filter(({ value }) => isDrawn(u, value));
    const ctx = u.ctx;
    ctx.save();
    ctx.strokeStyle = colours.limit;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash(DASH.map((length) => length * devicePixelRatio));
    const taken = [];
    for (const { value, text } of shown) {
      const y = Math.round(u.valToPos(value, "y", true));
      ctx.beginPath();
      ctx.moveTo(u.bbox.left, y);
      ctx.lineTo(u.bbox.left + u.bbox.width, y);
      ctx.stroke();
      const top = u.valToPos(value, "y");
      const element = tag(u, "limit", text);
      element.style.top = `${top < ROW + 2 ? top + 2 : top - ROW - 1}px`;
      // Words of lines that lie close together stand side by side.
      const beside = taken.filter((other) => Math.abs(other.top - top) < ROW);
      element.style.right = `${beside.reduce((right, other) => Math.max(right, other.right), 4)}px`;
      taken.push({ top, right: parseFloat(element.style.right) + element.offsetWidth + 6 });
    }
    ctx.restore();
  };

  // The height of the words of marks.
  const room = (data, isWide) => (data.marks.length === 0 ? 0 : ROW * (isWide ? ROWS.wide : ROWS.narrow));

  // The words of marks, each beside the end of its line; those for which there is no room are in the table alone.
  const words = (u, marks, rows) => {
    const ends = Array(rows).fill(-Infinity);
    for (const { left, label } of marks) {
      const element = tag(u, "mark", label);
      const width = element.offsetWidth;
      const start = left + width + 2 > u.over.clientWidth ? left - width - 2 : left + 2;
      const row = ends.findIndex((end) => end < start);
      if (row < 0 || start < 0) {
        element.remove();
        continue;
      }
      ends[row] = start + width;
      element.style.left = `${start}px`;
      element.style.top = `${-(row + 1) * ROW}px`;
    }
  };

  const marks = (u, data, colours, isWide) => {
    for (const old of u.over.querySelectorAll(".tag.mark")) old.remove();
    const ctx = u.ctx;
    ctx.save();
    const position = (second) => Math.round(u.valToPos(second, "x", true));
    if (data.warm_up > 0) {
      const [left, right] = [position(Math.max(0, u.scales.x.min)), position(data.warm_up / 1e9)];
      ctx.fillStyle = colours.shade;
      if (right > left) ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
    }
    ctx.strokeStyle = colours.mark;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    const shown = data.marks.filter(({ at }) => at / 1e9 >= u.scales.x.min && at / 1e9 <= u.scales.x.max);
    for (const { at } of shown) {
      ctx.beginPath();
      ctx.moveTo(position(at / 1e9), u.bbox.top);
      ctx.lineTo(position(at / 1e9), u.bbox.top + u.bbox.height);
      ctx.stroke();
    }
    ctx.restore();
    const placed = shown.map(({ at, label }) => ({ left: u.valToPos(at / 1e9, "x"), label }));
    words(u, placed, room(data, isWide) / ROW);
  };

  return { room, marks, thresholdsOf, linear, logarithmic, series, limits };
})();
