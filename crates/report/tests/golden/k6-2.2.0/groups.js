import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('Zeta'), c2 = new Counter('_under'), c3=new Counter('alpha'), c4=new Counter('Beta'), c5=new Counter('a1'), c6=new Counter('a_b'), c7=new Counter('aB'), c8 = new Counter('a10'), c9=new Counter('a2');
const t = new Trend('t_time', true), tp = new Trend('t_plain');
const f = new Trend('final_only_in_group', true);
const all=[c,c2,c3,c4,c5,c6,c7,c8,c9];
const dat = new Counter('cdata');
export const options = { iterations: 1, thresholds: {
 'Zeta{group:::g1}': ['count>0'], 'Zeta{ a : "x y" , b:\'q\' }': ['count<1'], 'alpha{x:1}': ['count==0'], 'alpha{b:2}': ['rate<5'], 'alpha': ['count > 0'],
 'http_req_duration{name:zzz}': ['p(95)<500'], 'http_req_duration{name:aaa}': ['max<500', {threshold:'min>=0', abortOnFail:false}], data_sent: ['count<1000', 'rate<1e6'], vus_max: ['value>0'], 'group_duration{group:::g1}':['avg<1000'], 'group_duration':['avg<2000'], 'checks{check:same}':['rate>0.1'], 'iteration_duration':['p(99)<1000','med<1000'], 't_plain{x:1}':['avg<1'],
 't_time':['p(90.55)<1000','max<20'], http_req_blocked: ['max<1000'], http_req_waiting:['max<1000']
}};
const B = 'http://127.0.0.1:8080';
export default function () {
  all.forEach((m, i) => m.add(i * 1.23456789));
  check(1, { 'same': () => true });
  group('g1', () => { check(1, { same: () => false, '日本語 チェック 🎉': () => true }); c.add(1); f.add(5); http.get(B + '/get'); http.get(B + '/bytes/2000', {tags:{name:'zzz'}});
    group('deep', () => { check(1, {'deep check': () => true}); f.add(7); group('deeper', () => { check(1, {'deeper check': ()=> false}); f.add(9); }); });
  });
  check(1, { 'late root': () => true });
  group('a2 second', () => { check(1, { same: () => true, 'x\ny': ()=>true }); });
  group('empty', () => {});
  for (const v of [0.0009999, 0.001, 0.9999, 0.99999, 1, 9.999, 999.994, 999.995, 999.9999, 1000, 1234.5678, 59999, 59999.99, 60000, 60001, 61500, 119999, 3599999, 3600000, 3600001, 86400000*2, 1e-9, 0, -0.5, -1500]) { t.add(v); tp.add(v); }
}
export function handleSummary(data){ console.log(JSON.stringify(data)); }
