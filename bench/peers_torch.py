"""peers_torch.py: torch.compile, which takes the NumPy text itself and gives NumPy arrays back."""

import os

import numpy as np
import torch
import workloads

VERSION = torch.__version__
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


prepare = np.array
force = None


def same_text(function):
    return torch.compile(lambda *data: function(np, *data))


triad = same_text(workloads.triad)
chain = same_text(workloads.chain)
black_scholes = same_text(workloads.black_scholes)
softmax = same_text(workloads.softmax)
layernorm = same_text(workloads.layernorm)
log_sum_exp = same_text(workloads.log_sum_exp)
monte_carlo = same_text(workloads.monte_carlo)
convolution = same_text(workloads.convolution)
nbody = same_text(workloads.nbody)
