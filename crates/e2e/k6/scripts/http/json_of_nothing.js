// An answer without a body is no JSON.
import http from 'k6/http';

export default function () {
  try {
    http.get(`${__ENV.BASE}/status/204`).json();
  } catch (error) {
    console.log(error.name, error.message);
  }
}
