# Logistic regression by NumPyro's NUTS on the device that JAX finds: the least effective draws in a second, warm-up
# included and compilation left out. 100,000 rows and 10 predictors; logit.R has bayes_logit() on data of this law.
# Writes ../results/peers-numpyro.csv.
#   cd bench/peers && python3 logit_numpyro.py
import csv
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size
from numpyro.infer import MCMC, NUTS

n = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
p = 10
jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(1)
x = random.standard_normal((n, p))
y = random.random(n) < 1 / (1 + np.exp(1 - x[:, 0]))
x, y = jnp.asarray(x), jnp.asarray(y)


def model(x, y):
    intercept = numpyro.sample("intercept", dist.Normal(0, 10))
    slope = numpyro.sample("slope", dist.Normal(0, 2.5).expand([p]))
    numpyro.sample("y", dist.Bernoulli(logits=intercept + x @ slope), obs=y)


mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=1000, num_chains=4, chain_method="vectorized", progress_bar=False)
mcmc.run(jax.random.PRNGKey(0), x, y)  # compiles
start = time.perf_counter()
mcmc.run(jax.random.PRNGKey(1), x, y)
draws = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
seconds = time.perf_counter() - start
least = min(float(np.min(effective_sample_size(np.asarray(value)))) for value in draws.values())
row = {"n": n, "p": p, "chains": 4, "device": jax.devices()[0].device_kind, "seconds": seconds, "least_ess": least,
       "ess_a_second": least / seconds}
print(row)
with open("../results/peers-numpyro.csv", "w", newline="") as file:
    table = csv.DictWriter(file, row.keys())
    table.writeheader()
    table.writerow(row)
