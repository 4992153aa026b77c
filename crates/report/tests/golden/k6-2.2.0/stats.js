import http from 'k6/http';
import { Gauge, Counter, Trend } from 'k6/metrics';
const g = new Gauge('tie'), g2=new Gauge('tie2'), c=new Counter('half', true), t=new Trend('tt', true), tp = new Trend('tp'), dd = new Counter('dd');
export const options = { iterations: 1, summaryTrendStats: ['count','avg','p(99.99)','p(0)', 'min'] };
export default function () { g.add(0.0078125); g2.add(-2.0000005); c.add(0.1+0.2); t.add(1.005); t.add(2); tp.add(0.12345678); tp.add(1); http.get('http://127.0.0.1:8080/get'); }
export function handleSummary(data){ console.log(JSON.stringify(data)); }
