#!/bin/sh
# A tiny external compiler: says that a candidate fits if its annotated model is no larger than
# LIMIT bytes (default 1000000) for each device, and else how much is missing on device 0.
# docs/compiler-protocol.md
set -eu
size=$(wc -c <"$CLEAVE_MODEL")
room=$((${LIMIT:-1000000} * CLEAVE_DEVICES))
if [ "$size" -le "$room" ]; then
    echo '{"version": 1, "outcome": "fits", "latency_ms": 2.5, "throughput": 800}'
else
    echo "{\"version\": 1, \"outcome\": \"oom\", \"device\": 0, \"bytes\": $((size - room))}"
fi
