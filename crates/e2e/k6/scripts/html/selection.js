// Finding, counting and reading elements.
import http from 'k6/http';
import { parseHTML } from 'k6/html';
export default function () {
  const doc = http.get(`${__ENV.BASE}/page/form`).html();
  console.log(doc.find('title').text(), doc.find('form').size(), doc.find('form').length, doc.find('input').first().attr('name'), doc.find('form').last().attr('id'), doc.find('nothing').size());
  console.log(doc.find('form').eq(1).attr('action'), doc.find('form').get(0).id(), doc.find('input[type=hidden]').val(), doc.find('select').val(), doc.find('textarea').val(), doc.find('#none').attr('x'), doc.find('#none').attr('x', 'default'));
  const list = parseHTML('<ul><li class="a">1</li><li class="b">2</li><li>3</li></ul><p>text <b>bold</b></p>');
  console.log(list.find('li').map((i, one) => `${i}:${one.text()}`).join(), list.find('li').toArray().length, list.find('p').html(), list.find('p').text());
  list.find('li').each((i, e) => console.log(i, e.nodeName(), e.getAttribute('class')));
  console.log(list.find('li').is('.a'), list.find('li').has('b').size(), list.find('p').has('b').size(), list.find('li').not('.a').size(), list.find('li').filter('.b').text(), list.find('li').slice(1, 3).text(), list.find('.b').index());
}
