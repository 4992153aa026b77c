// The namespace of a module of k6 has no `default`, whoever asks; its default import is there.
import http, * as all from 'k6/http';
import * as k6 from 'k6';
import * as metrics from 'k6/metrics';
import * as execution from 'k6/execution';
import * as crypto from 'k6/crypto';
import * as data from 'k6/data';
import * as csv from 'k6/experimental/csv';
const named = { all, k6, metrics, execution, crypto, data, csv, required: require('k6/http') };
export default function () {
  for (const [name, module] of Object.entries(named)) console.log(name, 'default' in module, typeof module.default);
  console.log(typeof http.get, (all.default || all).get === http.get);
}
