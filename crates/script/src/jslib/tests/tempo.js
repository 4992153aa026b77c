import http from 'k6/http';
import tempo from 'https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js';

const w3c = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/;
const traced = (response) => response.request.headers.Traceparent?.[0];

export default function () {
  const client = new tempo.Client({ propagator: 'w3c', sampling: 1 });
  const [one, two] = [client.get('http://127.0.0.1:1/'), client.post('http://127.0.0.1:1/', 'x')].map(traced);
  console.log(w3c.test(one), w3c.test(two), one !== two);
  console.log(traced(http.get('http://127.0.0.1:1/')) === undefined);
}
