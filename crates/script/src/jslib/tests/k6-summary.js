import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';

const time = { type: 'trend', contains: 'time' };
const data = {
  options: { summaryTrendStats: ['avg', 'max', 'count'], summaryTimeUnit: '', noColor: true },
  root_group: {
    name: '',
    checks: [{ name: 'root ok', passes: 6, fails: 0 }],
    groups: [
      {
        name: 'outer',
        checks: [{ name: 'always fails', passes: 0, fails: 6 }],
        groups: [{ name: 'inner', checks: [], groups: [] }],
      },
    ],
  },
  metrics: {
    vus: { type: 'gauge', contains: 'default', values: { value: 4, min: 4, max: 4 } },
    checks: { type: 'rate', contains: 'default', values: { rate: 2 / 3, passes: 12, fails: 6 }, thresholds: { 'rate>0.9': { ok: false } } },
    http_req_duration: { ...time, values: { avg: 2.5, max: 1234.567, count: 3 }, thresholds: { 'avg<9': { ok: true } } },
    'http_req_duration{name:x}': { ...time, values: { avg: 0.1234, max: 61000, count: 2 } },
    data_sent: { type: 'counter', contains: 'data', values: { count: 930, rate: 30120.5 } },
  },
};

export default function () {
  for (const line of textSummary(data, { indent: ' ', enableColors: false }).split('\n')) console.log(`|${line}|`);
  for (const line of jUnit(data, { name: 'a "b"', classname: 'c' }).split('\n')) console.log(line);
  for (const ms of [0, 0.0005, 0.5, 999.999, 59999, 3725000]) console.log(humanizeValue(ms, time, ''));
  console.log(humanizeValue(1500, time, 's'), humanizeValue(0.26089, { type: 'rate' }), humanizeValue(9999, { contains: 'data' }));
  console.log(/\x1b\[3/.test(textSummary(data, { enableColors: true })));
}
