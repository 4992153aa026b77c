// The root of all folders is no file.
import { open } from 'k6/experimental/fs';
for (const path of ['/', '//', '/tmp/']) {
  try {
    await open(path);
  } catch (e) {
    console.log(path, String(e), e.name);
  }
}
export default function () { }
