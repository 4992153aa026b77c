// Cookies outlive the iteration where that is asked for.
import http from 'k6/http';
export const options = { iterations: 2, noCookiesReset: true };
export default function () {
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json()));
  http.get(`${__ENV.BASE}/cookies/set?kept=yes`);
}
