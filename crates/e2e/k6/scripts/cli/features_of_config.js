//@ args: --config {TMP}/config.json
//@ config: {"features": ["merge-run-tags", "of-config"], "tags": {"q": "1"}}
// Features of the configuration file.
import exec from 'k6/execution';
export const options = { tags: { own: '2' } };
export default function () { console.log(JSON.stringify(exec.test.options.tags), exec.test.options.features); }
