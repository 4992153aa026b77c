// Parents, children, siblings.
import { parseHTML } from 'k6/html';
export default function () {
  const doc = parseHTML('<div id="root"><section><h1>t</h1><p class="x">a</p><p>b</p><span>c</span></section><section id="two"><p>d</p></section></div>');
  const texts = (s) => s.map((i, one) => one.text()).join('|');
  console.log(texts(doc.find('h1').next()), texts(doc.find('h1').nextAll()), texts(doc.find('h1').nextUntil('span')), texts(doc.find('span').prev()), texts(doc.find('span').prevAll('p')), texts(doc.find('span').prevUntil('h1')));
  console.log(doc.find('h1').parent().size(), doc.find('h1').parents('div').attr('id'), doc.find('h1').parentsUntil('#root').size(), doc.find('p').closest('section').size(), texts(doc.find('.x').siblings()), texts(doc.find('#two').children()));
  console.log(doc.find('section').contents().size(), texts(doc.find('h1').add('span')), texts(doc.find('section').find('p').end().find('h1')), doc.find('#root').children('section').size());
}
