// Construction without a name or without new.
import { Counter } from 'k6/metrics';
try { new Counter(); console.log('made'); } catch (e) { console.log(e.message); }
try { Counter('x'); console.log('made'); } catch (e) { console.log(e.name); }
export default function () {}
