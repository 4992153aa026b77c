//@ config: {"vus":
// Nothing of the script has run when its file of options is found wrong.
console.log('loaded');
export default function () {}
