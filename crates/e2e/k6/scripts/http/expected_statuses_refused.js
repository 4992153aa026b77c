// What expectedStatuses() takes for statuses, and what it says of the rest.
import http from 'k6/http';
const given = [[null], [undefined], [200, null], ['200'], [1.5], [true], [{}], [[1]], [{ min: 1 }], [{ max: 1 }], [{ min: 1, max: undefined }], [{ min: null, max: 1 }], [{ min: '1', max: 2 }], [{ min: 1.5, max: 2 }], [{ min: NaN, max: 1 }], [{ min: 5, max: 1 }], [{ min: 0, max: 0 }], [200, { min: 1, max: 'x' }], []];
export default function () {
  for (const statuses of given) {
    try { http.expectedStatuses(...statuses); console.log(JSON.stringify(statuses), 'taken'); } catch (e) { console.log(JSON.stringify(statuses), e.name, e.message); }
  }
}
