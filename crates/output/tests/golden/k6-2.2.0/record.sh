#!/bin/sh
# Records the golden files beside this script with k6 v2.2.0; go-httpbin answers on port 8080.
set -u
K6_CSV_TIME_FORMAT=rfc3339_nano "${K6:-k6}" run --quiet -o json=samples.jsonl -o csv=samples.csv samples.js > /dev/null 2>&1
