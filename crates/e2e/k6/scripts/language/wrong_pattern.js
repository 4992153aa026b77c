// A pattern without a value.
export default function () {
  let { a } ;
}
