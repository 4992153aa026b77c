#!/bin/sh
# Records the golden files beside this script with k6 v2.2.0; go-httpbin answers on port 8080, and
# the bodies that the influxdb output posts to port 8087 become samples.lines.
set -u
python3 - > samples.lines 2> /dev/null <<'SERVER' &
import http.server, sys
class Capture(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        sys.stdout.buffer.write(body)
        sys.stdout.flush()
        self.send_response(204)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', 8087), Capture).serve_forever()
SERVER
server=$!
sleep 1
K6_CSV_TIME_FORMAT=rfc3339_nano "${K6:-k6}" run --quiet -o json=samples.jsonl -o csv=samples.csv \
    -o influxdb=http://127.0.0.1:8087/k6 samples.js > /dev/null 2>&1
kill "$server"
