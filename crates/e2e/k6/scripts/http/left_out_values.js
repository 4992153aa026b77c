// Parameters and parts of an address that are nothing.
import http from 'k6/http';
export default function () {
  try { http.setResponseCallback(undefined); } catch (e) { console.log(String(e)); }
  for (const nothing of [undefined, null]) {
    const tags = { name: String(nothing) };
    console.log(http.get(`${__ENV.BASE}/status/404`, { responseCallback: nothing, tags }).status);
    console.log(http.get(http.url`${__ENV.BASE}/anything?a=${nothing}&b=${0}`, { tags }).json('url').replace(/^.*\?/, ''));
  }
}
