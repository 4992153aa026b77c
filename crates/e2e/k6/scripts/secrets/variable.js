//@ env: K6_SECRET_SOURCE=mock=cool=s3cret
// The source that the environment names.
import secrets from 'k6/secrets';
export default async function () { console.log(await secrets.get('cool')); }
