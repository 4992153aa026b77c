//@ args: --secret-source file={DIR}/files/secrets.txt --secret-source mock=name=other,cool=mocked,default
// Two sources, one of them a file.
import secrets from 'k6/secrets';
const tell = async (f) => { try { const value = await f(); console.log('value', value, value.length); } catch (e) { console.log('error', String(e)); } };
export default async function () {
  for (const name of ['cool', 'equals', 'empty', 'none']) await tell(() => secrets.source('file').get(name));
  await tell(() => secrets.get('cool')); await tell(() => secrets.source('other').get('cool')); await tell(() => secrets.source('mock').get('cool'));
}
