//@ args: --config {TMP}/config.json
//@ config: {"features": ["native-histograms", "of-config"], "tags": {"q": "1"}}
//@ env: K6_FEATURES=freeze-env, of-env
// The highest tier that names features names all of them; each is a tag of the run.
import exec from 'k6/execution';
export default function () { console.log(JSON.stringify(exec.test.options.tags), exec.test.options.features); }
