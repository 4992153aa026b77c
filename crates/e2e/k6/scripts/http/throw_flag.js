//@ args: --throw
// Failed requests as exceptions, for the whole run.
import http from 'k6/http';
export default function () {
  console.log(http.get('http://127.0.0.1:1/', { throw: false }).status);
  http.get('http://127.0.0.1:1/');
  console.log('never');
}
