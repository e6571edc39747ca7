#!/bin/bash
# ported from slurm to plain openmpi, 2026-07-21
HOSTS=cn-201:4,cn-202:4,cn-203:4,cn-204:4
ROOT=$(scontrol show hostnames $SLURM_JOB_NODELIST 2>/dev/null | head -n1)
mpirun --tag-output -np 16 -H $HOSTS -x NEURON_RT_ROOT_COMM_ID=${ROOT}:46820 -x FI_PROVIDER=efa -x FI_EFA_USE_DEVICE_RDMA=1 \
    -x NEURON_RT_LOG_LEVEL=INFO ./bench_allreduce --size 256M
