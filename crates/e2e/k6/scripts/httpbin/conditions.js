// Caches and conditions.
import http from 'k6/http';
export default function () { console.log(http.get(`${__ENV.BASE}/etag/abc`).headers.Etag, http.get(`${__ENV.BASE}/etag/abc`, { headers: { 'If-None-Match': '"abc"' } }).status, http.get(`${__ENV.BASE}/cache/30`).headers['Cache-Control'], http.get(`${__ENV.BASE}/cache`, { headers: { 'If-Modified-Since': 'Sat, 01 Jan 2022 00:00:00 GMT' } }).status, http.get(`${__ENV.BASE}/range/20`, { headers: { Range: 'bytes=5-9' } }).status); }
