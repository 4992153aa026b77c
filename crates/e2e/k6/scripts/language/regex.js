// Regular expressions: groups, lookbehind, flags, properties.
export default function () {
  const m = /(?<year>\d{4})-(?<month>\d\d)/u.exec('on 2024-05-06');
  console.log(m.groups.year, m.groups.month, m.index);
  console.log('2024-05'.replace(/(?<y>\d+)-(?<m>\d+)/, '$<m>/$<y>'), 'aBc'.replace(/b/i, (x) => `[${x}]`));
  console.log(/(?<=\$)\d+/.exec('cost $42')[0], /(?<!\$)\b\d+/.exec('cost $42 or 17')[0], /a.c/s.test('a\nc'));
  const sticky = /o/y; sticky.lastIndex = 4; console.log(sticky.test('hello'), sticky.lastIndex);
  console.log('😀'.match(/./u)[0].length, '😀'.match(/./)[0].length);
  console.log('a1b2c3'.split(/\d/).join(), 'a,b;c'.split(/([,;])/).join('|'), 'x'.search(/y/));
  console.log('aaa'.match(/a/g).length, 'abc'.match(/(x)?b/)[1], /^\s*$/m.test('a\n\nb'), /[\w.+-]+@[\w-]+\.\w+/.exec('to: a.b+c@d-e.org.')[0]);
}
