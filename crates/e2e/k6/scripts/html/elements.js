// Elements as in the DOM.
import { parseHTML } from 'k6/html';
export default function () {
  const doc = parseHTML('<div id="d"><p>one</p><p lang="en">two</p>tail</div>');
  const d = doc.find('#d').get(0);
  console.log(d.childElementCount(), d.firstElementChild().textContent(), d.lastElementChild().lang(), d.children().length, d.childNodes().length, d.querySelector('[lang]').innerHTML(), d.querySelectorAll('p').length, d.lastChild().textContent());
  const p = d.firstElementChild();
  console.log(p.nextElementSibling().textContent(), p.parentElement().id(), p.parentNode().nodeName(), p.matches('p'), p.contains(d), d.contains(p), p.ownerDocument().nodeName(), p.isEqualNode(p), p.isSameNode(d.lastElementChild()));
}
