// A misspelt name of another file.

import { incremnt } from './lib/counter.js';
export default function () { incremnt(); }
