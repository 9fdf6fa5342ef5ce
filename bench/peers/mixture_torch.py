# One Gibbs sweep's draw of labels and its sums in PyTorch, the fastest way that we could write; ../limits.R puts it
# beside dp_mixture(). The squared distances of all components are one product of a matrix of features (products of
# pairs of markers, markers, and 1) and a matrix of coefficients. Labels are drawn by adding Gumbel noise. Sums over the
# cells of each component are index_add() of the features. Writes ../results/peers-torch.csv: milliseconds of a sweep,
# of its product alone, and of the same product in TF32.
#   cd bench/peers && python3 mixture_torch.py [cells] [components]
import csv
import sys
import time

import torch

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
k = int(sys.argv[2]) if len(sys.argv) > 2 else 256
device = "cuda" if torch.cuda.is_available() else "cpu"


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def milliseconds(call, times=5):
    call()
    seconds = []
    for _ in range(times):
        wait()
        start = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - start)
    return 1e3 * sorted(seconds)[times // 2]


def features(x):
    """Cells x (p (p + 1) / 2 + p + 1): the upper triangle of x x', x, 1."""
    rows, columns = torch.triu_indices(x.shape[1], x.shape[1], device=x.device)
    return torch.cat([x[:, rows] * x[:, columns], x, torch.ones_like(x[:, :1])], 1)


def sweep(design, coefficients):
    log_weight = design @ coefficients
    noise = -torch.log(torch.empty_like(log_weight).exponential_())
    label = torch.argmax(log_weight + noise, 1)
    sums = torch.zeros(k, design.shape[1], dtype=design.dtype, device=design.device)
    return sums.index_add_(0, label, design)


rows = []
for precision, dtype in (("double", torch.float64), ("single", torch.float32)):
    for p in (10, 14, 20, 30, 40):
        torch.manual_seed(1)
        design = features(torch.randn(n, p, dtype=dtype, device=device))
        coefficients = 0.1 * torch.randn(design.shape[1], k, dtype=dtype, device=device)
        torch.backends.cuda.matmul.allow_tf32 = False
        row = {"n": n, "p": p, "k": k, "precision": precision, "device": device,
               "ms": milliseconds(lambda: sweep(design, coefficients)),
               "product_ms": milliseconds(lambda: design @ coefficients), "tf32_ms": ""}
        if precision == "single":
            torch.backends.cuda.matmul.allow_tf32 = True
            row["tf32_ms"] = milliseconds(lambda: design @ coefficients)
        print(row, flush=True)
        rows.append(row)
        del design
with open("../results/peers-torch.csv", "w", newline="") as file:
    table = csv.DictWriter(file, rows[0].keys())
    table.writeheader()
    table.writerows(rows)
