#!/bin/bash
# blaunch does not read ~/.bashrc on the remote side!  (HD)
MASTER=$(echo $LSB_HOSTS | cut -d' ' -f1)
i=0
for h in $LSB_HOSTS; do
  blaunch -z $h env MASTER_ADDR=$MASTER MASTER_PORT=41000 NODE_RANK=$i \
     bash -c 'env | sort > out/env.$(hostname -s); exec torchrun --nproc_per_node 32 --nnodes 2 --node_rank $NODE_RANK \
     --master_addr $MASTER_ADDR --master_port $MASTER_PORT run_clm_xla.py > out/$(hostname -s).log 2>&1' &
  i=$((i+1))
done
wait
