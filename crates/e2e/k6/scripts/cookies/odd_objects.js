import http from 'k6/http';

export default function () {
  const kinds = ['x', 5, ['a'], { a: null }, { a: undefined }, { a: {} }, { a: { value: 'v' } }, { a: [1] }, { a: 1.5 }, { a: true }];
  for (const cookies of kinds) {
    const sent = http.get(`${__ENV.BASE}/cookies`, { cookies, jar: new http.CookieJar() }).json();
    console.log(JSON.stringify(cookies), JSON.stringify(sent));
  }
}
