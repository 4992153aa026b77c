// Hosts and ports of all kinds: what is no URL makes no request, and throws only where the options say so.
import http from 'k6/http';
const urls = ['http://127.0.0.1:99999/', 'HTTP://127.0.0.1:1/', 'http://', 'http:///x', 'http:', 'http:foo', '', '%20', 'http://127.0.0.1:1/ x', 'http://h%20x/', 'http://h%41/', 'http://h%3A80/', 'http://127.0.0.1:1/%', 'http://127.0.0.1:1/?q=%zz', 'http://127.0.0.1:1/#%zz', 'http://::1/', 'http://::1:80/', 'http://[::1]:x/', 'http://[::1]x/', 'http://[::1]:1/', 'http://[fe80::1%lo]:1/', 'http://[]:1/', 'http://[nope]:1/', 'http://[127.0.0.1]:1/', 'http://[::1%25]/', 'http://a[::1]:1/', 'http://u:p@127.0.0.1:1/', 'http://:1/', '//h/x', 'http:/h', 'HtTpS://', 'http://127.0.0.1:000001/', 'http://h\\x/', 'http://h{x}/', 'http://h:80:80/', 'ws://h/', 'mailto:x@y', 'http://h:+80/', 'http://h: 80/', 'http://\u0001/'];
export default async function () {
  const told = (r) => `${r.status} ${r.error_code} ${r.error} | ${r.url} | ${typeof r.body}`;
  const tell = async (f) => { try { console.log(told(await f())); } catch (e) { console.log('threw', String(e)); } };
  for (const url of urls) {
    console.log(JSON.stringify(url));
    await tell(() => http.get(url)); await tell(() => http.get(url, { throw: true }));
  }
  for (const url of ['http://h:bad/', 'http://127.0.0.1:1/', 'nope']) { await tell(() => http.batch([url])[0]); await tell(() => http.batch([['GET', url, null, { throw: true }]])[0]); await tell(() => http.asyncRequest('GET', url)); await tell(() => http.asyncRequest('GET', url, null, { throw: true })); }
}
