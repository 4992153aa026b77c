// Text that is no page.
import http from 'k6/http';
import { parseHTML } from 'k6/html';
export default function () {
  console.log(parseHTML('').find('*').size(), parseHTML('just text').text(), parseHTML('<b>un<i>closed').find('i').text(), parseHTML('<p>&amp;&lt;&eacute;&#8364;</p>').find('p').text());
  try { http.get(`${__ENV.BASE}/empty`).html(); console.log('a page'); } catch (e) { console.log(e.message); }
  console.log(http.get(`${__ENV.BASE}/page/links`).html('a').size(), http.get(`${__ENV.BASE}/xml`).html().find('slide').size() >= 0);
}
