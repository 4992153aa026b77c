// k6-summary: the end-of-test summary as text and as a JUnit report, after the documentation of
// the library of that name.

const MARKS = { ok: '✓', failed: '✗' };
const COLORS = { green: '\x1b[32m', red: '\x1b[31m', cyan: '\x1b[36m', faint: '\x1b[36;2m' };

function painter(enabled) {
  return (text, color) => (enabled ? `${COLORS[color]}${text}\x1b[0m` : text);
}

// Numbers are cut off after two decimals, never rounded up.
const cut = (number) => (Math.trunc(number * 100) / 100).toFixed(2).replace(/\.?0+$/, '');

function plain(number) {
  return parseFloat(number.toFixed(6)).toString();
}

function bytes(number) {
  if (number < 10) return `${number} B`;
  const power = Math.floor(Math.log(number) / Math.log(1000));
  const value = Math.floor((number / 1000 ** power) * 10 + 0.5) / 10;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'][power]}`;
}

function time(ms) {
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1000000)}ns`;
  if (ms < 1) return `${cut(ms * 1000)}µs`;
  if (ms < 1000) return `${cut(ms)}ms`;
  if (ms < 60000) return `${cut(ms / 1000)}s`;
  const seconds = ms / 1000;
  const minutes = Math.trunc(seconds / 60);
  const rest = `${(seconds % 60).toFixed(0)}s`;
  return minutes < 60 ? `${minutes}m${rest}` : `${Math.trunc(minutes / 60)}h${minutes % 60}m${rest}`;
}

const UNITS = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };

/** A value of a metric as people read it. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 10000) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains !== 'time') return plain(value);
  const unit = UNITS[timeUnit];
  return unit ? (value * unit[0]).toFixed(2) + unit[1] : time(value);
}

function groupLines(group, indent, paint, lines) {
  const checks = Object.values(group.checks ?? []);
  for (const check of checks) {
    if (check.fails === 0) {
      lines.push(paint(`${indent}${MARKS.ok} ${check.name}`, 'green'));
      continue;
    }
    const share = Math.floor((100 * check.passes) / (check.passes + check.fails));
    lines.push(paint(`${indent}${MARKS.failed} ${check.name}`, 'red'));
    lines.push(paint(`${indent} ↳  ${share}% — ${MARKS.ok} ${check.passes} / ${MARKS.failed} ${check.fails}`, 'red'));
  }
  if (checks.length > 0) lines.push('');
  for (const inner of Object.values(group.groups ?? [])) {
    lines.push(`${indent}█ ${inner.name}`, '');
    groupLines(inner, `${indent}  `, paint, lines);
  }
}

/** What a metric that is no trend shows: its value, and what stands beside it. */
function shownValues(metric, timeUnit) {
  const { values } = metric;
  const human = (value) => humanizeValue(value, metric, timeUnit);
  switch (metric.type) {
    case 'counter':
      return [human(values.count), `${human(values.rate)}/s`];
    case 'gauge':
      return [human(values.value), `min=${human(values.min)}`, `max=${human(values.max)}`];
    default:
      return [human(values.rate), `${values.passes} out of ${values.passes + values.fails}`];
  }
}

function trendValues(metric, stats, timeUnit) {
  return stats.map((stat) => {
    const value = metric.values[stat];
    return stat === 'count' ? `${value}` : humanizeValue(value, metric, timeUnit);
  });
}

const widest = (texts) => texts.reduce((width, text) => Math.max(width, [...text].length), 0);
const padded = (text, width) => text + ' '.repeat(Math.max(0, width - [...text].length));

/** Widths of the columns of a table. */
function columns(rows) {
  const count = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, i) => widest(rows.map((row) => row[i] ?? '')));
}

function metricLines(data, indent, paint, timeUnit) {
  const names = Object.keys(data.metrics).sort((a, b) => {
    const [one, two] = [a.split('{', 1)[0], b.split('{', 1)[0]];
    return one.localeCompare(two) || a.localeCompare(b);
  });
  const stats = data.options.summaryTrendStats;
  const rows = names.map((name) => {
    const metric = data.metrics[name];
    const at = name.indexOf('{');
    const isTrend = metric.type === 'trend';
    return {
      gap: at < 0 ? '' : '  ',
      name: at < 0 ? name : `{ ${name.slice(at + 1, -1)} }`,
      metric,
      isTrend,
      values: isTrend ? trendValues(metric, stats, timeUnit) : shownValues(metric, timeUnit),
    };
  });
  const nameWidth = widest(rows.map(({ gap, name }) => gap + name));
  const trendWidths = columns(rows.filter((row) => row.isTrend).map((row) => row.values));
  const plainWidths = columns(rows.filter((row) => !row.isTrend).map((row) => row.values));
  return rows.map((row) => {
    const lead = `${indent}  ${row.gap}${markOf(row.metric, paint)} `;
    const dots = paint(`${'.'.repeat(nameWidth - [...row.gap, ...row.name].length + 3)}:`, 'faint');
    const values = row.isTrend
      ? row.values.map((value, i) => `${stats[i]}=${paint(padded(value, trendWidths[i]), 'cyan')}`)
      : besides(row.values, plainWidths, paint);
    return `${lead}${row.name}${dots} ${values.join(' ')}`;
  });
}

/** The value and what stands beside it; of the latter all but the last are padded. */
function besides(values, widths, paint) {
  return values.map((value, i) => {
    const isLast = i === values.length - 1;
    return paint(isLast ? value : padded(value, widths[i]), i === 0 ? 'cyan' : 'faint');
  });
}

function markOf(metric, paint) {
  const thresholds = Object.values(metric.thresholds ?? {});
  if (thresholds.length === 0) return ' ';
  const holds = thresholds.every((threshold) => threshold.ok);
  return holds ? paint(MARKS.ok, 'green') : paint(MARKS.failed, 'red');
}

/** The summary as text. */
export function textSummary(data, options = {}) {
  const { indent = ' ', enableColors = !data.options.noColor, summaryTimeUnit } = options;
  const paint = painter(enableColors);
  const lines = [];
  groupLines(data.root_group, `${indent}    `, paint, lines);
  lines.push(...metricLines(data, indent, paint, summaryTimeUnit ?? data.options.summaryTimeUnit));
  return lines.join('\n');
}

const ESCAPES = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&apos;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[<>&'"]/g, (letter) => ESCAPES[letter]);

/** Thresholds as the test cases of a JUnit report. */
export function jUnit(data, options = {}) {
  const name = escaped(options.name ?? 'k6 thresholds');
  const classname = escaped(options.classname ?? 'Unnamed folder');
  const cases = [];
  let failures = 0;
  for (const [metric, { thresholds }] of Object.entries(data.metrics)) {
    for (const [expression, { ok }] of Object.entries(thresholds ?? {})) {
      const head = `<testcase name="${escaped(metric)} - ${escaped(expression)}" classname="${classname}"`;
      if (!ok) failures++;
      cases.push(ok ? `${head} />` : `${head}><failure message="failed" /></testcase>`);
    }
  }
  return (
    `<?xml version="1.0"?>\n<testsuites tests="${cases.length}" failures="${failures}">\n` +
    `<testsuite name="${name}" tests="${cases.length}" failures="${failures}">\n` +
    `${cases.join('\n')}\n</testsuite>\n</testsuites>`
  );
}
