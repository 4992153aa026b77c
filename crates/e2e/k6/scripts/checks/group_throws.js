// An exception leaves the group; its time is counted.
import { check, group } from 'k6';
export default function () {
  try { group('broken', () => { throw new Error('inside'); }); } catch (e) { console.log(e.message); }
  check(1, { 'after the group': true });
  group('open', () => { throw new Error('goes on'); });
}
