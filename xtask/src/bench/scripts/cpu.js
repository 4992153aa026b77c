// Work for the processor alone: JSON, regular expressions, text, a digest and a shared table.
import { SharedArray } from 'k6/data';
import { sha256 } from 'k6/crypto';

const users = new SharedArray('users', () => {
  const rows = [];
  for (let i = 0; i < 1000; i += 1) {
    rows.push({ id: i, name: `user-${i}`, mail: `user${i}@example.test`, tags: ['a', 'b', String(i % 7)] });
  }
  return rows;
});

const ORDER = {
  number: 4711,
  lines: Array.from({ length: 40 }, (_, i) => ({ item: `article ${i}`, amount: i * 1.5, in_stock: i % 3 === 0 })),
};
const LOG_LINE = /(\d+)\.(\d+)\.(\d+)\.(\d+) - (\w+) "(GET|POST) ([^"]+)" (\d{3})/;

/** A JSON text there and back. */
function roundTrip() {
  return JSON.parse(JSON.stringify(ORDER)).lines.reduce((sum, line) => sum + line.amount, 0);
}

/** Lines of a log, built and taken apart again. */
function logLines(name) {
  let text = '';
  for (let i = 0; i < 50; i += 1) {
    text += `10.0.${i}.1 - ${name.replace('-', '')} "GET /orders/${i}" ${200 + (i % 5)}\n`;
  }
  return text.split('\n').filter((line) => LOG_LINE.test(line)).length;
}

export default function () {
  let sum = roundTrip();
  for (let i = 0; i < 20; i += 1) {
    sum += users[(__ITER * 31 + i * 17) % users.length].id;
  }
  const lines = logLines(users[__ITER % users.length].name);
  if (lines !== 50 || sha256(`${sum}`, 'hex').length !== 64) {
    throw new Error(`${lines} lines, sum ${sum}`);
  }
}
