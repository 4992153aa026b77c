// Async functions, combinators of promises and their order.
export default async function () {
  const order = [];
  const later = (v) => new Promise((resolve) => setTimeout(() => resolve(v), 5));
  Promise.resolve().then(() => order.push('micro'));
  order.push('sync');
  await null;
  order.push('after await');
  console.log(order.join());
  console.log((await Promise.all([later(1), 2, Promise.resolve(3)])).join());
  console.log((await Promise.allSettled([later(1), Promise.reject(new Error('no'))])).map((r) => `${r.status}:${r.value ?? r.reason.message}`).join());
  console.log(await Promise.race([later('slow'), 'fast']), await Promise.any([Promise.reject(1), later('any')]));
  try { await Promise.any([Promise.reject(1)]); } catch (e) { console.log(e.constructor.name, e.errors.join()); }
  try { await (async () => { throw new TypeError('async'); })(); } catch (e) { console.log(e.name, e.message); } finally { console.log('finally'); }
  const thenable = { then(resolve) { resolve('thenable'); } };
  console.log(await thenable, await Promise.resolve(1).finally(() => 2));
}
