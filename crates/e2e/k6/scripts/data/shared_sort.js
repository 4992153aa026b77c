// Sorting is refused even where nothing would move; what JSON cannot say is an error to whoever looks.
import { SharedArray } from 'k6/data';
const one = new SharedArray('one', () => [1]);
const odd = new SharedArray('odd', () => [undefined, () => 1, NaN, 2]);
const tried = (f) => {
  try {
    return f();
  } catch (error) {
    return String(error);
  }
};
export default function () {
  console.log(tried(() => one.sort()), tried(() => one.sort((a, b) => a - b)), tried(() => one.sort(5)));
  console.log(odd.length, tried(() => odd[0]), tried(() => odd[1]), odd[2], odd[3]);
}
