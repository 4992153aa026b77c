//@ args: --secret-source mock=cool=s3cret
// Errors that hold a secret.
import secrets from 'k6/secrets';
export default async function () { throw new Error(`with ${await secrets.get('cool')}`); }
