//@ args: --tag alone
// The script has loaded before a flag's text is found wrong.
console.log('loaded');
export default function () {}
