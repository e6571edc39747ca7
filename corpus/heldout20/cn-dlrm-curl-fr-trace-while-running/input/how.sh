for r in $(seq 0 7); do
  curl -s -X POST http://127.0.0.1:$((25999+r))/handler/fr_trace_json > fr_trace_json/rank$r.json
done
