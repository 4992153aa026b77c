// Arguments of a wrong kind.
import http from 'k6/http';
function tell(f) { try { console.log(JSON.stringify(f())); } catch (e) { console.log(e.message); } }
export default function () {
  tell(() => http.batch([]));
  tell(() => http.batch({}));
  tell(() => http.batch());
  tell(() => http.batch(null));
  tell(() => http.batch('text'));
}
