// http.url called as a function.
import http from 'k6/http';

export default function () {
  for (const part of ['http://x/1', 5, true, {}]) {
    try {
      http.url(part);
      console.log('taken');
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  for (const part of [undefined, null]) {
    http.url(part);
    console.log('taken');
  }
}
