//@ env: K6_DNS=
// k6 refuses this variable where it is empty.
export default function () {}
