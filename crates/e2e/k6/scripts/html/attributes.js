// Attributes, data and elements.
import { parseHTML } from 'k6/html';
export default function () {
  const doc = parseHTML('<a id="l" class="one two" href="/x?y=1#z" data-count="5" data-flag="true" data-long-name="v" data-json=\'{"a":[1]}\' title="T">link</a><input type="checkbox" checked value="c" disabled><img src="i.png" alt="A" width="3">');
  const a = doc.find('a');
  console.log(a.attr('href'), a.attr('missing'), a.data('count'), a.data('flag'), a.data('longName'), JSON.stringify(a.data('json')), JSON.stringify(Object.entries(a.data()).sort()));
  const e = a.get(0);
  console.log(e.id(), e.className(), e.href(), e.hasAttribute('title'), e.getAttribute('class'), e.nodeName(), e.innerHTML(), e.textContent(), e.nodeType(), e.hasChildNodes());
  const i = doc.find('input').get(0);
  console.log(i.checked(), i.disabled(), i.value(), i.type(), doc.find('img').get(0).alt(), doc.find('img').get(0).src());
}
