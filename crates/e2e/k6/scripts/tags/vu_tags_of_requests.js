import exec from 'k6/execution';
import http from 'k6/http';

export default function () {
  exec.vu.tags.url = 'u';
  exec.vu.tags.status = '7';
  http.get(`${__ENV.BASE}/status/200`);
  exec.vu.tags.name = 'n';
  http.get(`${__ENV.BASE}/status/201`);
  http.get(`${__ENV.BASE}/status/202`, { tags: { name: 'own' } });
  http.get(http.url`${__ENV.BASE}/status/${203}`);
}
