// The first form, its submit button, and a form without an action.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/page/form`);
  const r = page.submitForm(); console.log(r.status, r.url, r.json('form.user.0'), r.json('form.go'), r.json('form.other'));
  console.log(page.submitForm({ formSelector: '#third' }).url);
  try { page.submitForm({ formSelector: '#absent' }); } catch (e) { console.log(e.message); }
}
