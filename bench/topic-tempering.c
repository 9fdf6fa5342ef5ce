// Tempered chains of latent Dirichlet allocation with exchanges, for topic-tempering.R: level l has the target
// p(words, topics | alpha, beta)^tau[l] p(alpha), by collapsed Gibbs sampling, and alpha by slices of its logarithms.
#include <R.h>
#include <Rmath.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  int *topic, *of_document, *of_term, *size;
  double *alpha;
} level;

enum { tabled = 256 };
static uint64_t state;
static int documents, terms, tokens, topics, longest, *document, *term, *length, *longer, *above;
static double concentration, *weight, *rising;

static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double log_rising(const double *table, double a, int n) {
  return n < tabled ? table[n] : lgammafn(a + n) - lgammafn(a);
}

static double log_joint(const level *x) {
  double sum = 0, value = 0;
  for (int k = 0; k <= topics; k++) {
    const double a = k < topics ? x->alpha[k] : concentration;
    double *table = rising + k * tabled;
    table[0] = 0;
    for (int j = 1; j < tabled; j++) table[j] = table[j - 1] + log(a + j - 1);
    if (k < topics) sum += a;
  }
  for (int j = 0; j < longest; j++) value -= longer[j] * log(sum + j);
  for (int i = 0; i < documents * topics; i++) {
    const int k = i % topics;
    value += log_rising(rising + k * tabled, x->alpha[k], x->of_document[i]);
  }
  for (int i = 0; i < terms * topics; i++) {
    value += log_rising(rising + topics * tabled, concentration, x->of_term[i]);
  }
  for (int k = 0; k < topics; k++) {
    value += lgammafn(terms * concentration) - lgammafn(terms * concentration + x->size[k]);
  }
  return value;
}

static double log_density(const int *count, double rest, double tau, double log_alpha) {
  const double a = exp(log_alpha);
  double value = 0;
  for (int j = 0; j < longest && count[j]; j++) value += count[j] * log(a + j);
  for (int j = 0; j < longest; j++) value -= longer[j] * log(rest + a + j);
  return tau * value + log_alpha - a;
}

static void draw_alpha(level *x, double tau) {
  memset(above, 0, sizeof(int) * (size_t)topics * longest);
  for (int i = 0; i < documents * topics; i++) {
    for (int j = 0; j < x->of_document[i]; j++) above[i % topics * longest + j]++;
  }
  for (int k = 0; k < topics; k++) {
    const int *count = above + k * longest;
    double rest = -x->alpha[k];
    for (int j = 0; j < topics; j++) rest += x->alpha[j];
    const double at = log(x->alpha[k]), height = log_density(count, rest, tau, at) + log(uniform());
    double low = at - 0.5 * uniform(), high = low + 0.5;
    for (int i = 0; i < 30 && log_density(count, rest, tau, low) > height; i++) low -= 0.5;
    for (int i = 0; i < 30 && log_density(count, rest, tau, high) > height; i++) high += 0.5;
    for (int i = 0; i < 100; i++) {
      const double next = low + (high - low) * uniform();
      if (log_density(count, rest, tau, next) > height) {
        x->alpha[k] = exp(next);
        break;
      }
      *(next < at ? &low : &high) = next;
    }
  }
}

static void sweep(level *x, double tau) {
  for (int i = 0; i < tokens; i++) {
    int *of_document = x->of_document + document[i] * topics, *of_term = x->of_term + term[i] * topics;
    int k = x->topic[i];
    of_document[k]--, of_term[k]--, x->size[k]--;
    double total = 0;
    for (k = 0; k < topics; k++) {
      weight[k] = (of_document[k] + x->alpha[k]) * (of_term[k] + concentration) / (x->size[k] + terms * concentration);
    }
    if (tau < 1) {
      for (k = 0; k < topics; k++) weight[k] = exp(tau * log(weight[k]));
    }
    for (k = 0; k < topics; k++) total += weight[k];
    double left = uniform() * total;
    for (k = 0; k < topics - 1 && left >= weight[k]; k++) left -= weight[k];
    x->topic[i] = k;
    of_document[k]++, of_term[k]++, x->size[k]++;
  }
  draw_alpha(x, tau);
}

// size: documents, terms, tokens, topics, levels, sweeps, seed, sweeps of each level at the start, and one of so many
// states is kept. kept: tokens x states of the first level, alphas: topics x states, energies: levels x sweeps.
void ladder(int *size, int *document_, int *term_, double *tau, double *beta, int *kept, double *alphas,
            double *energies) {
  documents = size[0], terms = size[1], tokens = size[2], topics = size[3];
  const int levels = size[4], sweeps = size[5], every = size[8];
  document = document_, term = term_, concentration = *beta, longest = 0;
  state = 88172645463325252ULL ^ (uint64_t)size[6] * 0x9E3779B97F4A7C15ULL;
  length = (int *)R_alloc(documents, sizeof(int));
  memset(length, 0, sizeof(int) * (size_t)documents);
  for (int i = 0; i < tokens; i++) length[document[i]]++;
  for (int d = 0; d < documents; d++) longest = length[d] > longest ? length[d] : longest;
  longer = (int *)R_alloc(longest, sizeof(int));
  for (int j = 0; j < longest; j++) longer[j] = 0;
  for (int d = 0; d < documents; d++) {
    for (int j = 0; j < length[d]; j++) longer[j]++;
  }
  above = (int *)R_alloc((size_t)topics * longest, sizeof(int));
  weight = (double *)R_alloc(topics, sizeof(double));
  rising = (double *)R_alloc((size_t)(topics + 1) * tabled, sizeof(double));
  level *x = (level *)R_alloc(levels, sizeof(level));
  double *energy = (double *)R_alloc(levels, sizeof(double));
  // Each level starts from the last state of the hotter one.
  for (int l = levels - 1; l >= 0; l--) {
    const size_t counts = (size_t)(documents + terms + 1) * topics;
    x[l].topic = (int *)R_alloc(tokens, sizeof(int));
    x[l].of_document = (int *)R_alloc(counts, sizeof(int));
    x[l].of_term = x[l].of_document + documents * topics;
    x[l].size = x[l].of_term + terms * topics;
    x[l].alpha = (double *)R_alloc(topics, sizeof(double));
    memset(x[l].of_document, 0, sizeof(int) * counts);
    for (int k = 0; k < topics; k++) x[l].alpha[k] = l == levels - 1 ? 0.3 : x[l + 1].alpha[k];
    for (int i = 0; i < tokens; i++) {
      const int k = x[l].topic[i] = l == levels - 1 ? (int)(uniform() * topics) : x[l + 1].topic[i];
      x[l].of_document[document[i] * topics + k]++, x[l].of_term[term[i] * topics + k]++, x[l].size[k]++;
    }
    for (int s = 0; s < size[7]; s++) sweep(x + l, tau[l]);
  }
  for (int s = 0; s < sweeps; s++) {
    for (int l = 0; l < levels; l++) {
      sweep(x + l, tau[l]);
      energy[l] = energies[s * levels + l] = log_joint(x + l);
    }
    for (int l = s % 2; l < levels - 1; l += 2) {
      if (log(uniform()) >= (tau[l] - tau[l + 1]) * (energy[l + 1] - energy[l])) continue;
      const level other = x[l];
      x[l] = x[l + 1], x[l + 1] = other;
    }
    if (s % every < every - 1) continue;
    memcpy(kept + (size_t)(s / every) * tokens, x[0].topic, sizeof(int) * (size_t)tokens);
    memcpy(alphas + (size_t)(s / every) * topics, x[0].alpha, sizeof(double) * (size_t)topics);
  }
}
