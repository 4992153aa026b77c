// Names of data attributes: words that Go writes in capitals.
import { parseHTML } from 'k6/html';
export default function () {
  for (const name of ['test-id', 'id', 'user-url', 'api-key', 'a-id-b', 'xml-url-id', 'my-ip', 'foo-bar', 'test-id2', 'i-d']) {
    const found = parseHTML(`<p data-${name}="v">`).find('p');
    const [key] = Object.keys(found.data());
    console.log(name, key, found.data(key), found.data(name));
  }
  const found = parseHTML('<p data-test-id="v">').find('p');
  for (const key of ['testId', 'testID', 'TestId', 'testid']) console.log(key, found.data(key));
}
