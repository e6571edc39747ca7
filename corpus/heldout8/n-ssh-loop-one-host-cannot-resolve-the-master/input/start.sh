#!/bin/bash
for i in 0 1 2 3 4; do
  h=$(sed -n "$((i+1))p" hosts); ssh $h "cd /mnt/efs/pv && nohup torchrun --nnodes=5 --node_rank=$i --nproc_per_node=4 --master_addr=dipper-l.train.internal --master_port=29577 pv_train.py > /tmp/pv.$i.log 2>&1 &"
done
