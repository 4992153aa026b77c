//@ stdout
// How the value beside a threshold is found: by how its aggregation is written.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const trend = new Trend('plain_trend'), time = new Trend('time_trend', true);
const counter = new Counter('my_counter'), rate = new Rate('my_rate'), gauge = new Gauge('my_gauge');
new Trend('empty_trend');
export const options = {
  summaryTrendStats: ['avg', 'p(99)'],
  thresholds: {
    plain_trend: ['med<5', 'min<5', 'max<5', 'avg<5', 'p(90)<5', 'p(99)<5', 'p(99.0)<5', 'p(12.5)<5', 'p(1e1)<5', 'p<5', 'p(9_5)<5', 'p(0)<5', 'avg!=4', 'p(95)!=3', ' avg  < 1_000 ', 'avg<0x1p4', 'avg>-Inf', 'avg!=NaN', 'avg<NaN'],
    'plain_trend{a:1}': ['p(95)<5', 'med<5', 'avg===1'],
    time_trend: ['p(95)<5', 'avg==2'],
    empty_trend: ['avg<5', 'p(95)>1', 'med!=0'],
    my_counter: ['count!=3', 'count!=2', 'count<5', 'rate!=-3', 'rate>0'],
    my_gauge: ['value!=3', 'value<3'],
    my_rate: ['rate!=3', 'rate<1', 'rate!=0.5'],
    vus: ['value>=0'],
  },
};
export default function () {
  trend.add(1, { a: '1' }); trend.add(3); time.add(2); counter.add(2); rate.add(true); rate.add(false); gauge.add(-1);
}
