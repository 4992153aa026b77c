//@ args: --vus many
//@ log: none
// A value that there is not.
export default function () {}
