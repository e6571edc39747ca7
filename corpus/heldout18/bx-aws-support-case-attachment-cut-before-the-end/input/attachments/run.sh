#!/bin/bash
while true; do
  python -m torch.distributed.run --nproc_per_node=32 train.py --resume latest 2>/dev/null | split -b 4M --filter='cat > $FILE' - train.log.
  rc=${PIPESTATUS[0]}
  echo "$(date -u +%FT%TZ) train ended with exit status $rc" >> wrapper.log
  [ $rc -eq 0 ] && break
  sleep 60
done
