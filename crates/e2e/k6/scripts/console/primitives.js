// Bare values.
export default function () {
  console.log('text', 1, 1.5, -0, true, false, null, undefined, NaN, Infinity, -Infinity, 1e21, 1e-7, 123456789012345680000);
  console.log(10n, Symbol('s').toString(), '');
  console.log();
  console.log('a\nb\tc "quoted" \\ é €');
  console.log('%s is %d', 'x', 1);
  console.log('one');
  console.log('two words');
  console.log('key=value');
}
