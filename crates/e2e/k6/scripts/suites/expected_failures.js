// Retries, and answers that are failures for some requests alone.
import http from 'k6/http';
import { Counter, Rate } from 'k6/metrics';

const tries = new Counter('tries');
const gaveUp = new Rate('gave_up');
const gone = http.expectedStatuses(404);

export const options = {
  thresholds: {
    'http_req_failed{name:gone}': ['rate==0'],
    'http_req_failed{name:lost}': ['rate==1'],
    'tries{attempt:3}': ['count==1'],
  },
};

function withRetries(most, ask) {
  for (let attempt = 1; attempt <= most; attempt += 1) {
    tries.add(1, { attempt: String(attempt) });
    const answer = ask(attempt);
    if (answer.status === 200) {
      gaveUp.add(false);
      return answer;
    }
  }
  gaveUp.add(true);
  return null;
}

export default function () {
  const status = (code, name, more) => http.get(`${__ENV.BASE}/status/${code}`, { tags: { name }, ...more });
  status(404, 'gone', { responseCallback: gone });
  status(404, 'lost');
  status(404, 'unjudged', { responseCallback: null });
  console.log(withRetries(5, (attempt) => status(attempt < 3 ? 503 : 200, 'retried')).status);
  console.log(withRetries(2, () => status(500, 'retried')));
}
