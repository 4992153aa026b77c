// No checks in init.
import { check } from 'k6';
check(1, { early: true });
export default function () {}
