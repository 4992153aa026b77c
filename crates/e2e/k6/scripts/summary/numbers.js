//@ stdout
//@ args: --summary-trend-stats avg,min,max
// Numbers of every size.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const names = ['tiny', 'small', 'whole', 'large']; const values = [0.000000123, 0.1 + 0.2, 5, 123456789.123];
const counters = names.map((n) => new Counter(`c_${n}`)); const gauges = names.map((n) => new Gauge(`g_${n}`)); const rate = new Rate('r_third'); const trends = names.map((n) => new Trend(`t_${n}`));
export default function () { values.forEach((v, i) => { counters[i].add(v); gauges[i].add(v); trends[i].add(v); }); rate.add(1); rate.add(0); rate.add(0); }
