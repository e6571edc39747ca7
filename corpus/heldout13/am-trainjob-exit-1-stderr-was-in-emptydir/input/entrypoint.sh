#!/bin/bash
mkdir -p /var/log/train            # emptyDir "logs"
exec torchrun --nnodes 3 --nproc_per_node 32 --rdzv_backend c10d --rdzv_endpoint vit-g-0.vit-g:29400 train.py "$@" 2>/var/log/train/stderr.log
