//@ args: --log-output stdout
//@ log: none
// The log goes to standard output.
export default function () { console.log('on stdout'); }
