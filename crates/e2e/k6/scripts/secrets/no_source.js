// Without a source.
import secrets from 'k6/secrets';
export default async function () { try { await secrets.get('a'); } catch (e) { console.log(String(e)); } try { await secrets.source('x').get('a'); } catch (e) { console.log(String(e)); } }
