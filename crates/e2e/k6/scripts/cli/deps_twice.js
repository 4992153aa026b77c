//@ command: deps
// One constraint for each name.
'use k6 >= 1.0';
'use k6 < 5';
export default function () {}
