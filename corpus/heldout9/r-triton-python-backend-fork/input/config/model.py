import os, torch, torch_neuronx, numpy as np
import triton_python_backend_utils as pb_utils
from concurrent.futures import ProcessPoolExecutor

_model = None

def _score(batch):
    return _model(*batch).numpy()          # runs in a pool worker

class TritonPythonModel:
    def initialize(self, args):
        global _model
        _model = torch.jit.load("/models/reranker_neuron/1/reranker_bge_m3_inf2.pt")   # nrt_init happens here
        self.pool = ProcessPoolExecutor(max_workers=4)   # default start method on Linux: fork

    def execute(self, requests):
        return [self.pool.submit(_score, r).result() for r in requests]
