import {
  uuidv4, randomIntBetween, randomItem, randomString, findBetween, normalDistributionStages, parseDuration,
  getCurrentStageIndex, check,
} from 'https://jslib.k6.io/k6-utils/1.5.0/index.js';

export default async function () {
  console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuidv4()));
  const numbers = new Set();
  for (let i = 0; i < 200; i++) numbers.add(randomIntBetween(3, 5));
  console.log(JSON.stringify([...numbers].sort()), ['a', 'b'].includes(randomItem(['a', 'b'])));
  console.log(randomString(5).length, randomString(4, 'z'));
  console.log(findBetween('<b>x</b><b>y</b>', '<b>', '</b>'), findBetween('none', '<', '>'));
  console.log(JSON.stringify(findBetween('<b>x</b><b>y</b>', '<b>', '</b>', true)));
  console.log(JSON.stringify([findBetween('none', '<', '>', true), normalDistributionStages(10, 20, 5), normalDistributionStages(100, 300)]));
  console.log(parseDuration('1h2m3.5s'), parseDuration('250ms'), parseDuration('7'));
  console.log(typeof getCurrentStageIndex);
  console.log(check(1, { one: (v) => v === 1 }), check(1, { two: false }));
  console.log(await check(1, { async: async (v) => v === 1 }), await check(Promise.resolve(2), { settled: (v) => v === 2 }));
}
