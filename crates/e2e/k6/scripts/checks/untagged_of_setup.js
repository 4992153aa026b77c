//@ args: --system-tags group,method
//@ file: data.json
// A check without the tag of its name still makes the group of setup() known.
import { check } from 'k6';
export function setup() { check(1, { a: () => true }); }
export default function () {}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data.root_group.groups.map((group) => [group.path, group.checks.length])) }; }
