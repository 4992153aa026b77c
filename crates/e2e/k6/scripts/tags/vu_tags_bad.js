// Values that are no tags.
import exec from 'k6/execution';
export default function () {
  for (const value of [{ a: 1 }, [1], null, undefined]) { try { exec.vu.metrics.tags.bad = value; console.log('set', exec.vu.metrics.tags.bad); } catch (e) { console.log(e.message); } }
}
