// k6-summary: the end-of-test summary as text and as a JUnit report, after the documentation of
// the library of that name.

const MARKS = { ok: '✓', failed: '✗' };
const COLORS = { green: '\x1b[32m', red: '\x1b[31m', cyan: '\x1b[36m', faint: '\x1b[2m', beside: '\x1b[36;2m' };

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
  const rest = `${Math.trunc(seconds % 60)}s`;
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
    const counts = `${indent} ↳  ${share}% — ${MARKS.ok} ${check.passes} / ${MARKS.failed} ${check.fails}`;
    lines.push(paint(`${indent}${MARKS.failed} ${check.name}\n${counts}`, 'red'));
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
    case 'rate':
      return [human(values.rate), `${MARKS.ok} ${values.passes}`, `${MARKS.failed} ${values.fails}`];
    default:
      return ['[no data]'];
  }
}

function trendValues(metric, stats, timeUnit) {
  return stats.map((stat) => {
    const value = metric.values[stat];
    return stat === 'count' ? `${value}` : humanizeValue(value, metric, timeUnit);
  });
}

// Escape sequences take no room on a screen, and what is composed takes that of one letter.
const widthOf = (text) => [...text.normalize('NFKC').replace(/\x1b(\[[^@-~]*[@-~]|[@-_])/g, '')].length;
const widest = (texts) => texts.reduce((width, text) => Math.max(width, widthOf(text)), 0);
const padded = (text, width) => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Widths of the columns of a table. */
function columns(rows) {
  const count = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, i) => widest(rows.map((row) => row[i] ?? '')));
}

function metricLines(data, { indent, summaryTimeUnit: timeUnit, summaryTrendStats: stats }, paint) {
  const names = Object.keys(data.metrics).sort((a, b) => {
    const [one, two] = [a.split('{', 1)[0], b.split('{', 1)[0]];
    return one.localeCompare(two) || a.localeCompare(b);
  });
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
    const dots = paint(`${'.'.repeat(nameWidth - widthOf(row.gap + row.name) + 3)}:`, 'faint');
    const values = row.isTrend
      ? row.values.map((value, i) => `${stats[i]}=${paint(value, 'cyan')}${padded(value, trendWidths[i]).slice(value.length)}`)
      : besides(row.values, plainWidths, paint);
    return `${lead}${row.name}${dots} ${values.join(' ')}`;
  });
}

/** The value and what stands beside it, padded unless it stands there alone. */
function besides(values, widths, paint) {
  return values.map((value, i) => {
    const room = i === 1 && values.length === 2 ? '' : padded(value, widths[i]).slice(value.length);
    return paint(value, i === 0 ? 'cyan' : 'beside') + room;
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
  const defaults = { indent: ' ', enableColors: true, summaryTimeUnit: null, summaryTrendStats: null };
  const merged = Object.assign(defaults, data.options, options);
  const paint = painter(merged.enableColors);
  const lines = [];
  groupLines(data.root_group, `${merged.indent}    `, paint, lines);
  lines.push(...metricLines(data, merged, paint));
  return lines.join('\n');
}

const ESCAPES = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&#39;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[<>&'"]/g, (letter) => ESCAPES[letter]);

/** Thresholds as the test cases of a JUnit report. */
export function jUnit(data, options = {}) {
  const name = escaped(options.name ?? 'k6 thresholds');
  const classname = escaped(options.classname ?? 'Unnamed folder');
  const cases = [];
  let failures = 0;
  for (const [metric, { type, values, thresholds }] of Object.entries(data.metrics)) {
    for (const [expression, { ok }] of Object.entries(thresholds ?? {})) {
      const head = `<testcase name="${escaped(metric)} - ${escaped(expression)}" classname="${classname}"`;
      if (ok) {
        cases.push(`${head} />`);
        continue;
      }
      failures++;
      const seen = Object.entries(values).map(([name, value]) => `${name} value: ${value}`);
      const why = escaped(`${type} threshold failed: ${seen.join(', ')}`);
      cases.push(`${head}><failure message="${why}" /></testcase>`);
    }
  }
  return [
    '<?xml version="1.0"?>',
    `    <testsuites tests="${cases.length}" failures="${failures}">`,
    `      <testsuite name="${name}" tests="${cases.length}" failures="${failures}">`,
    `        ${cases.join('\n')}`,
    '      </testsuite>',
    '    </testsuites>',
  ].join('\n');
}
