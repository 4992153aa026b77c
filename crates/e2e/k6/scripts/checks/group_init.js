// No groups in init.
import { group } from 'k6';
group('init', () => {});
export default function () {}
