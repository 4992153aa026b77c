// References in a page are told relative to where it came from; in a text of the script, as written.
import http from 'k6/http';
import { parseHTML } from 'k6/html';
const READ = { a: 'href toString origin host pathname search hash', base: 'href', link: 'href', img: 'src currentSrc', audio: 'src currentSrc', iframe: 'src', object: 'data', embed: 'src', script: 'src', input: 'src formAction', form: 'action', button: 'formAction' };
const tell = (page) => {
  for (const [tag, members] of Object.entries(READ)) {
    page.find(tag).each((_, element) => console.log(tag, members.split(' ').map((name) => element[name]()).join(' ')));
  }
};
export default function () {
  const answer = http.get(`${__ENV.BASE}/page/addresses?z=1#fr`);
  tell(answer.html());
  tell(parseHTML(answer.body));
  const link = answer.html('a').eq(1);
  console.log(link.closest('body').find('a').get(1).href(), link.get(0).getAttribute('href'), link.attr('href'));
  console.log(http.get(`${__ENV.BASE}/redirect-to?url=%2Fpage%2Flinks`).html('a.rel').get(0).href());
}
