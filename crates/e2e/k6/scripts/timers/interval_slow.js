// The next call of an interval is counted from the end of the one before.
import { sleep } from 'k6';
export default function () {
  const order = [];
  let slow = 0;
  const first = setInterval(() => { order.push('slow'); slow += 1; if (slow === 3) clearInterval(first); sleep(0.2); }, 100);
  setTimeout(() => order.push('once'), 450);
  setTimeout(() => {
    let late = 0;
    const second = setInterval(() => { order.push('late'); late += 1; if (late === 3) clearInterval(second); }, 100);
    setTimeout(() => order.push('timer'), 250);
    sleep(0.5);
  }, 1200);
  setTimeout(() => console.log(order.join()), 2500);
}
