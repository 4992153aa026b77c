// A name is declared twice in one block.
export default function () {
  const user = 1;
  let user = 2;
}
