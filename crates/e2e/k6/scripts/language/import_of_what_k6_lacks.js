// Names that k6's modules lack are null, or undefined where a module is an object.
import k6, { chek } from 'k6';
import { gett } from 'k6/http';
import { Countr } from 'k6/metrics';
import { parse } from 'k6/html';
import { md6 } from 'k6/crypto';
import { b32 } from 'k6/encoding';
import { vuu } from 'k6/execution';
import { Shared } from 'k6/data';
import { tick } from 'k6/timers';
import { opn } from 'k6/experimental/fs';
export default function () {
  console.log(chek, gett, Countr, parse, md6, b32, vuu, Shared, tick, opn, k6.chek);
  chek(1, {});
}
