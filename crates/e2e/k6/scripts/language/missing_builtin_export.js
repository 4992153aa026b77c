// What one of k6's modules does not export is nothing, also where it is exported again.
import { missing as fromK6 } from 'k6';
import { missing as fromHttp } from 'k6/http';
import { missing as fromMetrics } from 'k6/metrics';
import { missing as fromData } from 'k6/data';
import { missing as fromHtml } from 'k6/html';
import { missing as fromCrypto } from 'k6/crypto';
import { missing as fromExecution } from 'k6/execution';
import { missing as fromStreams, ReadableStream } from 'k6/experimental/streams';
import { again, sleep } from './lib/exports_again.js';

export default function () {
  const found = { fromK6, fromHttp, fromMetrics, fromData, fromHtml, fromCrypto, fromExecution, fromStreams, again };
  for (const [name, value] of Object.entries(found)) {
    console.log(name, value == null);
  }
  console.log(typeof sleep, typeof ReadableStream);
}
