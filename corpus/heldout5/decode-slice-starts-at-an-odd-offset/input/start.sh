#!/bin/bash
NEURON_RT_VISIBLE_CORES=0-3  vllm serve $MODEL -tp 4 --port 8100 &> prefill-engine.log &
NEURON_RT_VISIBLE_CORES=4-11 vllm serve $MODEL -tp 8 --port 8200 &> decode-engine.log &
wait
