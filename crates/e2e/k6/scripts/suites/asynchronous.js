// Promises, timers and requests that wait for one another.
import http from 'k6/http';

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export async function setup() {
  const answer = await http.asyncRequest('GET', `${__ENV.BASE}/get`);
  return { status: answer.status };
}

export default async function (data) {
  console.log(data.status);
  const order = [];
  await Promise.all([3, 1, 2].map(async (n) => {
    await wait(n * 60);
    order.push(n);
  }));
  console.log(order.join());
  const [first, second] = await Promise.all([
    http.asyncRequest('GET', `${__ENV.BASE}/get`),
    http.asyncRequest('POST', `${__ENV.BASE}/post`, 'text'),
  ]);
  console.log(first.status, second.json('data'));
  const settled = await Promise.allSettled([Promise.reject(new Error('no')), 1]);
  console.log(settled.map(({ status }) => status).join());
  try {
    await wait(1);
    throw new TypeError('late');
  } catch (error) {
    console.log(error.name);
  } finally {
    console.log('in the end');
  }
}

export async function teardown(data) {
  await null;
  console.log('teardown', data.status);
}
