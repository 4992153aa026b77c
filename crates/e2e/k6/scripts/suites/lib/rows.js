// A reader of CSV as scripts carry it along.
export function parse(text) {
  const rows = [];
  let row = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted && letter === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (letter === '"') {
      quoted = !quoted;
    } else if (quoted) {
      cell += letter;
    } else if (letter === ',' || letter === '\n') {
      row.push(cell);
      cell = '';
      if (letter === '\n') {
        if (row.length > 1) rows.push(row);
        row = [];
      }
    } else {
      cell += letter;
    }
  }
  const [head, ...rest] = rows;
  return rest.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at]])));
}
