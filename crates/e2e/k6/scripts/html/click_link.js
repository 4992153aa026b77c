// Links are followed relative to the page.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/page/links`);
  console.log(page.clickLink().json('args.a.0'), page.clickLink({ selector: '.rel' }).body, page.clickLink({ selector: '#abs', params: { tags: { name: 'again' } } }).status);
  try { page.clickLink({ selector: '#absent' }); } catch (e) { console.log(e.message); }
}
