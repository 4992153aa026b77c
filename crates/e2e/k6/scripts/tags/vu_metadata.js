// Metadata is kept beside the tags.
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const counter = new Counter('own');
export default function () {
  exec.vu.metrics.metadata.trace = 'abc';
  counter.add(1);
  delete exec.vu.metrics.metadata.trace;
  counter.add(1);
}
