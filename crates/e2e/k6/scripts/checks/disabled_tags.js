//@ args: --system-tags method,status,check
// Without the tag of the group.
import { check, group } from 'k6';
export default function () { group('g', () => check(1, { c: true })); }
