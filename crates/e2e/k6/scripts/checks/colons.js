// Two colons separate groups, so no name may hold them.
import { check, group } from 'k6';
export default function () {
  try { check(1, { 'a::b': true }); } catch (e) { console.log(e.message); }
  try { group('a::b', () => console.log('never')); } catch (e) { console.log(e.message); }
}
