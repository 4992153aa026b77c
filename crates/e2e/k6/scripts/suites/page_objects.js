// Pages as classes and objects over a client that names, tags and checks.
import { group } from 'k6';
import { LoginPage, shop } from './pages/index.js';

export const options = {
  iterations: 2,
  thresholds: {
    'http_req_duration{client:login}': ['p(95)<60000'],
    'checks{client:shop}': ['rate>0.9'],
    'http_reqs{name:GET /get}': ['count>=2'],
  },
};

export default function () {
  const page = new LoginPage();
  group('journey', () => {
    console.log(page.login('ann', 'x'), shop.list(3), shop.buy(7));
  });
}
