// The builtin check takes no async functions.
import { check } from 'k6';
export default async function () {
  check(1, { later: async () => true });
}
