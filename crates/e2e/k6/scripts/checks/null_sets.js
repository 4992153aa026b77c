// No checks at all.
import { check } from 'k6';
export default function () {
  try { check(1, null); console.log('fine'); } catch (e) { console.log(e.name); }
  try { check(1); console.log('fine'); } catch (e) { console.log(e.name); }
}
