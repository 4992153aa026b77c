// What a script sees of Go's errors: those that are thrown have a value, and promises are rejected with the value alone.
import { check, fail, group } from 'k6';
import encoding from 'k6/encoding';
import { open as openFile } from 'k6/experimental/fs';
import { parseHTML } from 'k6/html';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const facts = (e) =>
  JSON.stringify({
    text: String(e), json: e, spread: { ...e }, keys: Object.keys(e), name: e.name, message: e.message,
    value: String(e.value), type: typeof e.value, isError: e instanceof Error, maker: e.constructor.name,
    hasStack: typeof e.stack === 'string',
  });
const tell = (what) => {
  try { what(); } catch (e) { console.log(facts(e)); console.log(e, { e }); }
};
const tellLater = async (what) => {
  try { await what(); } catch (e) { console.log(JSON.stringify(e), String(e), e instanceof Error, e.name, e.message, e.value); console.log(e); }
};

tell(() => http.get(__ENV.BASE));
tell(() => open(''));
tell(() => new Counter('a b'));
tell(() => check(1, {}));

export default async function () {
  tell(() => fail('enough'));
  tell(() => group('a'));
  tell(() => check(1, { 'a::b': () => true }));
  tell(() => http.batch());
  tell(() => http.get('http://127.0.0.1:1/', { throw: true }));
  tell(() => http.get('::', { throw: true }));
  tell(() => http.get(`${__ENV.BASE}/ok`, { timeout: 'soon', throw: true }));
  tell(() => http.get(`${__ENV.BASE}/ok`, { responseType: 'none' }).json());
  tell(() => encoding.b64decode('!!').x);
  tell(() => parseHTML('<p>').find('p').each(5));
  tell(() => http.cookieJar().set('::', 'a', 'b'));
  await tellLater(() => http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }));
  await tellLater(() => openFile('x'));
  try { fail('x'); } catch (e) {
    e.value = 5;
    console.log(JSON.stringify(e), e.constructor === GoError, new GoError('mine').message, Object.keys(new GoError('mine')).length);
  }
  await http.asyncRequest('GET', '::', null, { throw: true });
}
