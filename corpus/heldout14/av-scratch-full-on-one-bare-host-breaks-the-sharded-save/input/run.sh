#!/bin/bash
# started by hand from trn-a in tmux, 27 Sep
mpirun -np 32 --hostfile hostfile --output-filename logs --map-by slot \
  -x FI_PROVIDER=efa -x FI_EFA_USE_DEVICE_RDMA=1 -x NEURON_RT_ROOT_COMM_ID=10.77.3.21:48620 \
  ./venv/bin/python finetune_llama.py --save_dir /scratch/ck --tp 8
