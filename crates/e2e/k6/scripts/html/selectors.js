// Selectors.
import { parseHTML } from 'k6/html';
export default function () {
  const doc = parseHTML('<div class="a b"><p id="p1">x</p><p data-k="v1">y</p><ul><li>1</li><li>2</li><li>3</li></ul><input name="f[0]" disabled></div>');
  for (const s of ['.a.b', 'div > p', 'p ~ ul', 'p + p', 'li:first-child', 'li:last-child', 'li:nth-child(2)', 'li:not(:first-child)', '[data-k]', '[data-k^=v]', '[data-k$="1"]', '[data-k*=v]', 'p:contains(y)', '#p1, li', '*', 'input[name="f[0]"]', 'ul:has(li)', 'li:nth-child(odd)', 'p:empty', ':disabled']) {
    try { console.log(s, doc.find(s).size()); } catch (e) { console.log(s, e.message); }
  }
}
