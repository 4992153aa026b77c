import http from 'k6/http';
import { check } from 'k6';
import { Trend, Counter, Gauge } from 'k6/metrics';
import exec from 'k6/execution';
const t = new Trend('t1', true), c= new Counter('c1'), g = new Gauge('g1');
export const options = { iterations: 1, tags: {run: 'r & x,"q"'}, thresholds: {t1: ['avg<5', {threshold:'max<7', abortOnFail: true, delayAbortEval:'1s'}], 't1{a:b}':['avg<1'], 't1{c:d}':['avg<2']}, systemTags: ['proto','status','method','url','name','group','check','error','error_code','scenario','expected_response','vu','iter','ip'] };
export default function () { t.add(1e-7, {a: 'b', q: 'é<>&"\\\n\t\u0001\u2028'}); c.add(1e21); c.add(123456789.123456789); c.add(1e20); g.add(-0.000001); g.add(1e-7); g.add(0.1+0.2);
 http.get('http://127.0.0.1:8080/get?a=1&b=2'); http.get('http://127.0.0.1:1/'); exec.vu.metrics.metadata.trace = 'x=1&y'; exec.vu.metrics.tags.custom='c,d'; check(1,{'a,b "q"':()=>true}); t.add(12.34567891234); }
