//@ args: --insecure-skip-tls-verify
// Each phase is at least what the server staged, and no other phase takes that time.
import http from 'k6/http';
const PHASES = ['blocked', 'connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving'];
function tell(name, r, staged) {
  const wrong = PHASES.filter((phase) => {
    const [least, most] = staged[phase] || [0, 200];
    return !(r.timings[phase] >= least && r.timings[phase] <= most);
  });
  const sum = r.timings.sending + r.timings.waiting + r.timings.receiving;
  console.log(name, r.status, JSON.stringify(wrong), Math.abs(sum - r.timings.duration) < 0.01);
}
const LONG = 10000;
export default function () {
  const cold = http.get(`${__ENV.BASE}/ok`);
  tell('cold', cold, {});
  console.log(cold.timings.connecting > 0, cold.timings.blocked >= cold.timings.connecting, cold.timings.tls_handshaking === 0);
  tell('waits', http.get(`${__ENV.BASE}/delay/400ms`), { waiting: [390, LONG], connecting: [0, 0], tls_handshaking: [0, 0] });
  tell('trickles', http.get(`${__ENV.BASE}/drip?duration=500ms&numbytes=5&delay=0s`), { receiving: [300, LONG], connecting: [0, 0] });
  const secure = http.get(`${__ENV.BASE_TLS}/delay/400ms`);
  tell('waits over TLS', secure, { waiting: [390, LONG] });
  console.log(secure.timings.tls_handshaking > 0, secure.timings.blocked >= secure.timings.tls_handshaking);
}
