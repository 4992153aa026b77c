//@ plain
// A response that setup() returns comes without its methods.
import http from 'k6/http';
export function setup() {
  const res = http.get(`${__ENV.BASE}/get`);
  return { res, all: http.batch([`${__ENV.BASE}/ip`]) };
}
const members = (res) => Object.keys(res).sort().join();
export default function (data) {
  console.log(data.res.status, typeof data.res.body, data.res.request.method, data.all.length, data.all[0].status_text);
  console.log(members(data.res), typeof data.res.json, JSON.parse(data.res.body).args);
}
