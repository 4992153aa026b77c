// Made in init alone.
import { SharedArray } from 'k6/data';
export default function () { new SharedArray('late', () => []); }
