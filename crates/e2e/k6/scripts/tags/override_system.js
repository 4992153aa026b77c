// A request's tags may replace the system's.
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE}/get`, { tags: { method: 'MINE', status: '999', url: 'u', group: 'g', scenario: 's' } }); }
