//@ args: --summary-mode=full
//@ stdout: exact
//@ log: none
// setup() and teardown() are in the tree of groups only if something was grouped or checked in them.
import http from 'k6/http';
import { check, group } from 'k6';
export function setup() { http.get(`${__ENV.BASE}/get`); }
export default function () { group('inner', () => http.get(`${__ENV.BASE}/get`)); }
export function teardown() { check(1, { 'torn down': true }); }
const names = (group) => `${group.name}(${group.checks.map((check) => check.name)}|${group.groups.map(names)})`;
export function handleSummary(data) { return { stdout: `${names(data.root_group)}\n` }; }
