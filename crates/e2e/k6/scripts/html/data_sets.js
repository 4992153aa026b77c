// Elements without attributes, with others, and with data.
import { parseHTML } from 'k6/html';

export default function () {
  const page = parseHTML('<p>x</p><b id=a>y</b><i data-k=1>z</i>');
  for (const name of ['p', 'b', 'i', 'u']) console.log(name, JSON.stringify(page.find(name).data()));
}
