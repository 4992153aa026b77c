//@ log: levels
// A script that cannot be read.
export default function () {
  let = ;
}
