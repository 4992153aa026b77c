//@ args: --stage 300ms:2,300ms:2 --stage 0s:0
//@ not: iterations iteration_duration data_sent data_received
// Stages.
import { sleep } from 'k6';
export default function () { sleep(0.05); }
