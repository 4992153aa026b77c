// Functions of k6 stand in traces under their names in Go.
import http from 'k6/http';
import { check, fail, group, randomSeed, sleep } from 'k6';
import { Counter } from 'k6/metrics';
import encoding from 'k6/encoding';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import { setTimeout as later } from 'k6/timers';

const counter = new Counter('counted');
const gone = { throw: true };
const tests = {
  fail: () => fail('x'), group: () => group('g', () => { throw new Error('b'); }), check: () => check(1, { a() { throw new Error('b'); } }), checkNone: () => check(),
  get: () => http.get('x', gone), post: () => http.post('x', null, gone), put: () => http.put('x', null, gone), patch: () => http.patch('x', null, gone), del: () => http.del('x', null, gone),
  head: () => http.head('x', gone), options: () => http.options('x', null, gone), request: () => http.request('GET', 'x', null, gone), batch: () => http.batch(), file: () => http.file(),
  expected: () => http.expectedStatuses('x'), callback: () => http.setResponseCallback(5), add: () => counter.add(1, { a: {} }), encode: () => encoding.b64encode(1),
  decode: () => encoding.b64decode('!!'), md5: () => crypto.md5('x', 'q'), hmac: () => crypto.hmac('q', 'x', 'y', 'hex'), random: () => crypto.randomBytes(-1), hex: () => crypto.hexEncode(),
  timer: () => later(5), timeout: () => setTimeout(5), interval: () => setInterval(5), open: () => open('x'), require: () => require('./nothing.js'),
  declared: () => new Counter('late'), tags: () => { exec.vu.metrics.tags.a = {}; }, nested: () => group('g', () => group('h', () => fail('deep'))),
};

export default function () {
  for (const [name, test] of Object.entries(tests)) {
    try {
      test();
      console.log(name, 'nothing');
    } catch (e) {
      const natives = String(e.stack).split('\n').filter((line) => line.endsWith('(native)'));
      console.log(name, natives.map((line) => line.replace(/^\tat /, '').replace('(native)', 'native')).join(' ; '));
    }
  }
  console.log([http.get, http.post, check, fail, group, randomSeed, sleep, counter.add, open, console.log, http.cookieJar().set].map((f) => f.name).join(' '));
}
