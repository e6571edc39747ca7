for i in $(seq 0 7); do
  curl -s --unix-socket /tmp/worker$i.sock "http://localhost/handler/dump_nccl_trace_json?includecollectives=true&onlyactive=true" -X POST > worker$i.json
done
