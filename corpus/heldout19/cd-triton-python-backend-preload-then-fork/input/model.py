import multiprocessing as mp, torch, torch_neuronx
class TritonPythonModel:
    def initialize(self, args):
        self.neuron_model = torch.jit.load('/models/bert_rerank_neuron/1/model.pt')
        self._warmup()
        ctx = mp.get_context('fork')
        self.workers = [ctx.Process(target=self._worker, args=(i,)) for i in range(4)]
        for w in self.workers: w.start()
