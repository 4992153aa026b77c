//@ file: junit.xml
// A report that handleSummary() makes of the checks of all groups.
import { check, group } from 'k6';

export default function () {
  group('outer', () => {
    check(1, { one: (n) => n === 1 });
    group('inner', () => check(1, { two: (n) => n === 2 }));
  });
  check(3, { three: true });
}

function cases(part, path) {
  const own = part.checks.map(({ name, fails }) => `<testcase classname="${path}" name="${name}">${fails ? '<failure/>' : ''}</testcase>`);
  return own.concat(...part.groups.map((inner) => cases(inner, `${path}/${inner.name}`)));
}

export function handleSummary(data) {
  return { 'junit.xml': `<testsuite>\n${cases(data.root_group, '').join('\n')}\n</testsuite>\n` };
}
