//@ command: deps
//@ stdout: exact
// What a script imports, and what its directives want.
'use k6 >= 1.0, < 3';
'use k6 with k6/x/faker >= 0.4';
import { check } from 'k6';
import http from 'k6/http';
import 'k6/browser';
import 'k6/x/sql';
throw new Error('nothing of it is run');
export default function () {
  check(http, {});
}
