import http from 'k6/http';

const shown = (response) => (response ? [response.status, response.error_code, response.error] : String(response));

export default function () {
  const fine = `${__ENV.BASE}/status/200`;
  console.log(JSON.stringify(http.batch(['::bad', fine]).map(shown)));
  console.log(JSON.stringify(http.batch([fine, '::bad', fine, fine]).map(shown)));
}
