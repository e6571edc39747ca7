#!/bin/bash
exec mpirun --hostfile hostfile -np 96 --map-by ppr:16:node --rank-by slot --tag-output --bind-to none \
  -x FI_PROVIDER=efa -x FI_EFA_USE_DEVICE_RDMA=1 -x NEURON_RT_EXEC_TIMEOUT=600 \
  ./wrap.sh python3 train_dense.py   # wrap.sh: NEURON_RT_VISIBLE_CORES=$((2*OMPI_COMM_WORLD_LOCAL_RANK))-$((2*OMPI_COMM_WORLD_LOCAL_RANK+1))
