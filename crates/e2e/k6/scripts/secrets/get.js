//@ args: --secret-source mock=default,cool=s3cret,empty=
// Secrets by name and source, redacted wherever they are logged.
import secrets from 'k6/secrets';
const tell = async (f) => { try { const value = await f(); console.log('value', value, value.length); } catch (e) { console.log('error', String(e)); } };
await tell(() => secrets.get('cool'));
export default async function () {
  await tell(() => secrets.get('cool')); await tell(() => secrets.get('missing')); await tell(() => secrets.get());
  await tell(() => secrets.source('default').get('cool')); await tell(() => secrets.source('mock').get('cool')); await tell(() => secrets.source('no "one"').get('cool'));
  const cool = await secrets.get('cool');
  console.log(`a text with ${cool} in it, ${cool}${cool}`, { secret: cool, list: [cool] }); console.error(cool); console.warn(JSON.stringify({ [cool]: 1 }));
  console.log('empty', await secrets.get('empty'), 'is let be', typeof secrets.get, typeof secrets.source, secrets.get('cool') instanceof Promise);
  await secrets.get('missing');
}
