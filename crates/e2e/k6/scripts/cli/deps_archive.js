//@ before: archive -O {TMP}/a.tar {SCRIPT}
//@ command: deps
//@ operand: {TMP}/a.tar
//@ args: --json
//@ stdout: exact
// What an archive imports, as JSON.
import http from 'k6/http';
import { data } from './lib/words.js';
export default function () {
  http.get(data);
}
