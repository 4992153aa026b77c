//@ args: --tag a=b,c=d --tag e=f
// A comma is part of a tag's value.
export default function () {}
