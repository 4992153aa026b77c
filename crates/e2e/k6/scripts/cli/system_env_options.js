//@ env: K6_TAGS=a:b
//@ env: K6_SYSTEM_TAGS=scenario,check
//@ env: K6_NO_SETUP=true
//@ env: K6_SUMMARY_TREND_STATS=min,max
// Options by variables.
import { check } from 'k6';
export function setup() { console.log('never'); }
export default function () { check(1, { c: true }); }
