//@ stdout
//@ not: data_sent data_received
// A metric's tags follow it, before a longer name.
import { Counter } from 'k6/metrics';
const errors = new Counter('errors');
const longer = new Counter('errors_total');
const other = new Counter('errors0');
export const options = {
  thresholds: {
    'errors{kind:a}': ['count>0'],
    'errors{kind:b}': ['count>0'],
    errors: ['count>1'],
    errors_total: ['count>0'],
    'errors_total{kind:a}': ['count>=0'],
    errors0: ['count>0'],
    'iterations{scenario:default}': ['count>0'],
  },
};
export default function () {
  errors.add(1, { kind: 'a' });
  errors.add(1, { kind: 'b' });
  longer.add(1);
  other.add(1);
}
