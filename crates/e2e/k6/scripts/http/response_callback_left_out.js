import http from 'k6/http';

export default function () {
  http.setResponseCallback();
  http.get(`${__ENV.BASE}/status/404`);
  http.setResponseCallback(http.expectedStatuses(404));
  http.get(`${__ENV.BASE}/status/404`);
}
