// An abort cannot be caught.
import exec from 'k6/execution';
export default function () { try { exec.test.abort('anyway'); } catch (e) { console.log('caught'); } console.log('after'); }
