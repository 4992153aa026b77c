import { Httpx, Get, Post } from 'https://jslib.k6.io/httpx/0.1.0/index.js';

const session = new Httpx({ baseURL: 'http://127.0.0.1:1', headers: { A: '1', B: '2' }, tags: { t: 'x' }, timeout: 1000 });
session.addHeader('C', '3');
session.clearHeader('B');
session.addTag('u', 'y');

export default function () {
  const headers = (response) => `${response.request.method} ${response.request.url} ${['A', 'B', 'C', 'D'].map((name) => response.request.headers[name])}`;
  console.log(headers(session.get('/get')));
  console.log(headers(session.post('/post', 'body', { headers: { D: '4' } })));
  console.log(headers(session.get('http://127.0.0.1:2/whole')));
  for (const one of session.batch([new Get('/a'), new Post('/b', { body: 'x', headers: { A: '6' } }), ['PUT', '/c', 'y']], { headers: { D: '5' } })) console.log(headers(one), one.request.body);
}
