// Regular expressions: groups, flags, replacement, complaints.
const T = (n, f) => { try { const r = f(); console.log(n, 'no error', String(r)); } catch (e) { console.log(n, e instanceof Error ? `${e.name}: ${e.message}` : String(e)); } };
export default function () {
  for (const src of ['[', '(', ')', '(?:', '(?z)', '[[:alpha:']) T(src, () => new RegExp(src));
  const rs = [/(?<y>\d{4})-(?<m>\d\d)/, /a+?b/g, /^\s*$/m, /\bfoo\b/i, /(a)|(b)/, /./s, /\u{1F600}/u, /[^\d]/y, /(?<=\$)\d+/, /(?<!\$)\d+/, /(\w+)\s\1/];
  for (const r of rs) { console.log(String(r), r.flags, r.source, r.test('2020-01 aab foo foo $12'), JSON.stringify('2020-01 aab foo foo $12'.match(r))); }
  console.log('2020-01'.replace(/(?<y>\d{4})-(?<m>\d\d)/, '$<m>/$<y> $1 $2 $& $$'));
  console.log([...'a1b2'.matchAll(/[a-z](\d)/g)].map(m => m[1] + m.index).join());
  console.log('a,b;c'.split(/[,;]/), 'abc'.split(''), 'a1b2'.replace(/\d/g, d => d * 2), 'x'.search(/y/));
  const m = /(?<a>.)(?<b>.)?/.exec('q'); console.log(m.groups.a, m.groups.b, JSON.stringify(m.groups), m.index, m.input, m.length);
  console.log(JSON.stringify('aBc'.replaceAll('B', '[$&]')), 'aaa'.replaceAll('a', (x, i) => i), 'abc'.at(-1), 'a-b-c'.split('-', 2));
  const s = /a/g; s.lastIndex = 5; console.log(s.test('aaa'), s.lastIndex, RegExp.$1);
}
