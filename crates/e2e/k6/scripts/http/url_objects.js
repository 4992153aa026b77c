// What a URL may be.
import http from 'k6/http';
export default function () {
  console.log(http.get(http.url`${__ENV.BASE}/get?id=${7}`).json('args.id.0'));
  console.log(http.get(`${__ENV.BASE}/anything/a%20b/ü?q=ä&r=%2F#fragment`).json('url'));
  console.log(http.get(`${__ENV.BASE}/anything/../get`).status);
}
