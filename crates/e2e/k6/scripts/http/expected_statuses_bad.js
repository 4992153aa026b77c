// Wrong arguments of the callbacks.
import http from 'k6/http';
function tell(f) { try { f(); console.log('fine'); } catch (e) { console.log(e.message); } }
export default function () {
  tell(() => http.expectedStatuses());
  tell(() => http.expectedStatuses('200'));
  tell(() => http.expectedStatuses({ min: 200 }));
  tell(() => http.expectedStatuses(200, { min: 500, max: 400 }));
  tell(() => http.setResponseCallback('x'));
}
