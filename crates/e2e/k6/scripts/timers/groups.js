// Timers keep no group: samples belong to where they run.
import { group, check } from 'k6';
export default function () { group('g', () => { setTimeout(() => check(1, { later: true }), 5); check(1, { now: true }); }); }
