import { describe } from 'https://jslib.k6.io/expect/0.0.4/index.js';

export default function () {
  const response = { json: () => ({}), status: 200, url: 'u' };
  console.log(describe('good', (t) => {
    t.expect(response.status).as('response status').toEqual(200).and(response).toHaveValidJson().and(5).as('items').toBeBetween(2, 6);
  }));
  console.log(describe('bad', (t) => {
    t.expect(1).toBeGreaterThan(2);
    console.log('not reached');
  }));
  console.log(describe('thrown', () => { throw new Error('oh'); }));
}
