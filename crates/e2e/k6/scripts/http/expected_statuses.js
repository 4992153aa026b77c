// What counts as failed is the script's choice.
import http from 'k6/http';
export default function () {
  const u = (s) => `${__ENV.BASE}/status/${s}`;
  http.get(u(404), { tags: { name: 'plain' } });
  http.get(u(404), { responseCallback: http.expectedStatuses(404), tags: { name: 'expected' } });
  http.get(u(200), { responseCallback: http.expectedStatuses(404, { min: 500, max: 599 }), tags: { name: 'unexpected' } });
  http.get(u(503), { responseCallback: http.expectedStatuses({ min: 500, max: 599 }), tags: { name: 'range' } });
  http.get(u(500), { responseCallback: null, tags: { name: 'without' } });
  http.setResponseCallback(http.expectedStatuses({ min: 200, max: 499 }));
  http.get(u(404), { tags: { name: 'set' } });
  http.setResponseCallback(null);
  http.get(u(404), { tags: { name: 'unset' } });
}
