import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const vals = [0.0009999, 0.001, 0.9999, 0.99999, 1, 9.999, 999.994, 999.995, 999.9999, 1000, 1234.5678, 59999, 59999.99, 60000, 60001, 61500, 119999, 3599999, 3600000, 3600001, 86400000*2, 1e-9, 0, -0.5, -1500, 12345678.9, 1e15, 1e22, 123456789012345680000, 0.0000005, 0.00000049, 0.1234565,2.5e-7,0.01,0.1, 8.475, 1.005,59999.9999,60000.5,62345.6,3661000.4];
const gs = vals.map((v,i)=> new Gauge('gt_'+String(i).padStart(2,'0'), true)), gp = vals.map((v,i)=> new Gauge('gp_'+String(i).padStart(2,'0')));
const cs = vals.map((v,i)=> new Counter('ct_'+String(i).padStart(2,'0')));
const cts = vals.map((v,i)=> new Counter('cx_'+String(i).padStart(2,'0'), true));
export const options = { iterations: 1 };
export default function () { vals.forEach((v,i)=>{ gs[i].add(v); gp[i].add(v); cs[i].add(v); cts[i].add(v); }); }
export function handleSummary(data){ console.log(JSON.stringify(data)); }
