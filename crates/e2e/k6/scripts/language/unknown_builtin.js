//@ log: levels
// A builtin module that there is not.
import nothing from 'k6/no-such-module';
export default function () { nothing(); }
