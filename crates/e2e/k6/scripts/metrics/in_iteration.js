// Metrics are made in init alone.
import { Counter } from 'k6/metrics';
export default function () { new Counter('late'); }
