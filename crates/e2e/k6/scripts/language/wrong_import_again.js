// A name that was imported is declared again.
import http from 'k6/http';

const http = 1;

export default function () {
  console.log(typeof http);
}
