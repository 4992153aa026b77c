// sleep takes parts of seconds; a seed makes random numbers repeatable.
import { randomSeed, sleep } from 'k6';
export const options = { iterations: 2 };
export default function () {
  const begin = Date.now();
  sleep(0.05); sleep('0.01'); sleep(0); sleep(-1); sleep();
  const took = Date.now() - begin;
  randomSeed(7); const a = [Math.random(), Math.random()];
  randomSeed(7); const b = [Math.random(), Math.random()];
  console.log(took >= 59 && took < 1000, a.join() === b.join(), a[0] !== a[1]);
}
