// The heat map: how many requests took how long, drawn into the plot that a chart gives it. Must not
// know where the rows come from. Invariant: one colour scale for the whole run, from one request to
// the most in any cell, by the logarithm of requests per second.
"use strict";
const heat = (() => {
  const PER_DOUBLING = 4;
  const COLUMNS_MAX = 600;

  const bandOf = (ns) => PER_DOUBLING * Math.log2(ns);
  const timeOf = (band) => 2 ** (band / PER_DOUBLING);

  // Bands and counts in turn, of what a row is told as: its first band, then counts of one band after the
  // other; below zero: so many bands further on.
  const cells = ([band, ...told]) => {
    const out = [];
    for (const number of told) {
      if (number < 0) {
        band -= number;
      } else {
        out.push(band, number);
        band += 1;
      }
    }
    return out;
  };

  // Least and highest band with a request, with room for a band around them.
  const range = (cells) => {
    let [low, high] = [Infinity, -Infinity];
    for (const row of cells) {
      if (row.length > 0) {
        low = Math.min(low, row[0]);
        high = Math.max(high, row[row.length - 2] + 1);
      }
    }
    return low > high ? null : [Math.max(0, low - 1), high + 1];
  };

  // Rows put together, so that no column is thinner than can be seen.
  const columns = (data, from, to) => {
    const step = Math.max(1, Math.ceil((to - from) / COLUMNS_MAX));
    const out = [];
    for (let at = from; at < to; at += step) {
      const last = Math.min(at + step, to) - 1;
      const counts = new Map();
      for (let row = at; row <= last; row += 1) {
        const cells = data.heat[row];
        for (let place = 0; place < cells.length; place += 2) {
          counts.set(cells[place], (counts.get(cells[place]) || 0) + cells[place + 1]);
        }
      }
      const [start, end] = [data.at[at] / 1e9, (data.at[last] + data.span[last]) / 1e9];
      out.push({ start, end, counts });
    }
    return out;
  };

  // Round times of 1, 2 and 5, thinned to what fits.
  const splits = (low, high, most) => {
    for (const steps of [[1, 2, 5], [1]]) {
      const found = [];
      for (let power = 0; power <= 13; power += 1) {
        for (const step of steps) {
          const band = bandOf(step * 10 ** power);
          if (band >= low && band <= high) found.push(band);
        }
      }
      if (found.length <= most || steps.length === 1) return found;
    }
    return [];
  };

  const mix = (a, b, part) => a.map((channel, place) => Math.round(channel + (b[place] - channel) * part));

  const colour = (ramp, share) => {
    const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(place), ramp.length - 2);
    return `rgb(${mix(ramp[low], ramp[low + 1], place - low).join(",")})`;
  };

  const mostOf = (drawn) => {
    let most = 1;
    for (const column of drawn) {
      const seconds = Math.max(column.end - column.start, 1e-9);
      for (const count of column.counts.values()) most = Math.max(most, count / seconds);
    }
    return most;
  };

  const draw = (u, data, ramp) => {
    const [from, to] = [u.scales.x.min, u.scales.x.max];
    const all = columns(data, 0, data.at.length);
    const most = mostOf(all);
    let [first, last] = [0, data.at.length];
    while (first < last && (data.at[first] + data.span[first]) / 1e9 < from) first += 1;
    while (last > first && data.at[last - 1] / 1e9 > to) last -= 1;
    const ctx = u.ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    for (const { start, end, counts } of columns(data, first, last)) {
      const seconds = Math.max(end - start, 1e-9);
      const left = Math.floor(u.valToPos(start, "x", true));
      const right = Math.max(Math.floor(u.valToPos(end, "x", true)), left + 1);
      for (const [band, count] of counts) {
        const top = Math.round(u.valToPos(band + 1, "y", true));
        const bottom = Math.round(u.valToPos(band, "y", true));
        ctx.fillStyle = colour(ramp, Math.log1p(count / seconds) / Math.log1p(most));
        ctx.fillRect(left, top, right - left, bottom - top);
      }
    }
    ctx.restore();
    return most;
  };

  // What lies under the cursor, in words.
  const under = (data, second, band) => {
    const row = data.at.findIndex((at, place) => second * 1e9 < at + data.span[place]);
    if (row < 0 || band < 0) return "";
    const cells = data.heat[row];
    const place = cells.findIndex((value, at) => at % 2 === 0 && value === Math.floor(band));
    const count = place < 0 ? 0 : cells[place + 1];
    const bounds = [timeOf(Math.floor(band)), timeOf(Math.floor(band) + 1)];
    return `${formats.span(bounds[0])} to ${formats.span(bounds[1])}: ${formats.count(count)} requests`;
  };

  return { cells, range, draw, splits, timeOf, under };
})();
