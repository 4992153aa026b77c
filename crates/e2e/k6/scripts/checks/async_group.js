// Nor does group.
import { group } from 'k6';
export default async function () {
  await group('later', async () => { console.log('inside'); });
}
