#!/bin/bash
#SBATCH -N 2 -p trn1 -J mamba-ft
#SBATCH --output=slurm-%j.out
export NEURON_COMPILE_CACHE_URL=/fsx/neuron_cache
export NEURON_CC_FLAGS="--model-type=transformer -O2"
export MALLOC_ARENA_MAX=64
set -x
srun -l -N2 --ntasks-per-node=32 python finetune_mamba.py --seq 6144 --chunk 320
