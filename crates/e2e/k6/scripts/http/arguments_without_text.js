import { group } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';

function told(name, what) {
  try {
    const value = what();
    console.log(name, typeof value, JSON.stringify(value));
  } catch (error) {
    console.log(name, 'threw', String(error));
  }
}

export default function () {
  const base = __ENV.BASE;
  const page = http.get(`${base}/page/links`);
  told('html null', () => page.html(null).size());
  told('html undefined', () => page.html(undefined).size());
  const answer = http.get(`${base}/anything`);
  told('json null', () => answer.json(null));
  told('json undefined', () => answer.json(undefined));
  told('json number', () => answer.json(5));
  told('group null', () => group(null, () => exec.vu.tags.group));
  told('group in group', () => group('a', () => group(undefined, () => exec.vu.tags.group)));
  const jar = new http.CookieJar();
  for (const value of [null, undefined, false, {}]) {
    told(`cookie ${value}`, () => {
      jar.set(base, 'x', value);
      return jar.cookiesForURL(base);
    });
  }
  told('nameless', () => jar.set(base, null, 'q'));
  told('valueless', () => jar.set(base, 'x'));
  told('sent', () => http.get(`${base}/cookies`, { jar }).json('cookies.x'));
}
