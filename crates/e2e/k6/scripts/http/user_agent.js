//@ args: --user-agent 'tester 1.0'
// The agent's name is an option.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/user-agent`).json('user-agent'), http.get(`${__ENV.BASE}/user-agent`, { headers: { 'user-agent': 'own' } }).json('user-agent'));
}
