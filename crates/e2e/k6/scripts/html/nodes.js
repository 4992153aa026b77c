// What texts, comments, document types and elements without attributes say of themselves.
import { parseHTML } from 'k6/html';
const page = parseHTML('<!DOCTYPE html><p>one<!--c--><b>two</b></p><svg>x<g/></svg>');
export default function () {
  const p = page.find('p').contents();
  const nodes = [p.get(0), p.get(1), p.get(2), page.find('svg').contents().get(0), page.find('g').get(0), page.contents().get(0), page.get(0)];
  for (const node of nodes)
    console.log(node.nodeName(), JSON.stringify(node.id()), node.className(), node.lang(), node.namespaceURI(), node.isDefaultNamespace(), node.toString(), `${node}`, node.nodeValue(), node.hasAttributes());
  const found = page.find('p').get(0).querySelectorAll(':matches(o)');
  console.log(found.map((node) => `${node.nodeName()}#${node.id()}`).join(' '));
}
