#!/bin/sh
# Records the golden files beside this script with k6 v2.2.0; go-httpbin answers on port 8080.
set -u
K6="${K6:-k6} run --quiet --log-format raw"
record() {
    name=$1 script=$2
    shift 2
    $K6 "$@" --console-output "$name.data.json" --summary-export "$name.export.json" -o "json=$name.jsonl" "$script" \
        > "$name.stdout" 2> /dev/null
}
record sections sections.js --summary-mode full
record groups groups.js --summary-mode full
record numbers numbers.js
record empty empty.js --summary-mode full
record stats stats.js
record seconds stats.js --summary-time-unit s --summary-mode full
record lifecycle lifecycle.js --summary-mode full
record order order.js
record machine groups.js --new-machine-readable-summary
# Colours need a terminal, whose own codes are taken out again.
script -qfec "$K6 --console-output colour.data.json -o json=colour.jsonl sections.js 2> /dev/null" colour.raw \
    > /dev/null < /dev/null
sed '1d;$d' colour.raw | sed 's/\x1b\[0K//g; s/\r//g' | head -c -1 > colour.stdout
rm colour.raw sections.export.json numbers.export.json empty.export.json stats.export.json seconds.export.json \
    lifecycle.export.json order.export.json machine.data.json
# k6 ends these without a line end; files here have one.
for export in groups machine; do
    echo >> "$export.export.json"
done
