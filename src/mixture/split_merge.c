/* Splits a component in two or joins two to one by Metropolis-Hastings moves, where draws of labels hardly would.
 *
 * All components are paired at random, whatever they hold. Given the labels z of the rows, with parameters and sticks
 * integrated out, a pair (a, b) proposes to
 *   split   if one of the two is empty: the rows U of the other are divided;
 *   join    if both hold rows: all of their rows, U, go to one of the two.
 * Pairs share no row, and the pairing does not depend on z. So each pair is a Metropolis-Hastings step of its own.
 *
 * U is divided as in Jain & Neal (2004), except that parameters are fixed while rows are drawn, so that rows are
 * independent. begin_launch() chooses two simple densities. Then some steps follow: each draws every row to a half and
 * sets the halves' parameters to their posterior expectations. Given the last parameters of this launch, each row is
 * drawn to its half once more; q is the probability of that draw. A join runs a launch too, and its q is the
 * probability of drawing the present halves. A launch depends on U, on random numbers, and on two rows of U, the
 * anchors, each of which stays in its half, but not on how U is divided, so it cancels in the odds. A split chooses the
 * anchors among all n_U rows, a join one in each half, of n_A and n_B rows. With m() the marginal density of rows given
 * their component (merge.c), the odds of split against join are
 *   m(A) m(B) p(A in a, B in b) n_U^2 / (m(U) [p(U in a) + p(U in b)] n_A n_B q),
 * where p() is the probability of labels given alpha: see exchange_labels() of mixture.c. A launch from an atom has no
 * anchors, so its odds lack n_U^2 / (n_A n_B). After the decision the pair's two labels are exchanged with the
 * conditional probability of the exchanged order.
 *
 * At the start of a chain many small clusters share a population, which no launch would divide as they do. Neighbours
 * are then joined with q from the halves' parameters; without q too many that overlap would be joined. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/mixture_component.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"

#define STEPS 4

/* The ways in which a launch begins, and their probabilities. SPIKE_LOG_ODDS is the log odds at the centre of a spike.
 *   BALL   SHARE_BALL (without atoms SHARE_BALL + SHARE_ATOM): a small ball around an anchor against all of U; the
 *          ball's sd is LEAST_SD to 1 times that of U
 *   ATOM   SHARE_ATOM: a spike of one column at an atom, with an sd of SPIKE_SD times the floor's
 *   SPIKE  the rest: a spike of one column at the anchor's value */
enum { BALL, ATOM, SPIKE };
#define SHARE_BALL 0.4
#define SHARE_ATOM 0.3
#define LEAST_SD 0.05
#define SPIKE_SD 2.0
#define SPIKE_LOG_ODDS 5.0

typedef struct moves {
  wb_mixture_chain *chain;
  int status; /* of the session's reply about an anchor's values */
  const wb_mixture_prior *prior;
  wb_mixture_state *state;
  const wb_mixture_spots *spots;
  double of_prior;         /* of the log marginal density of every component */
  int neighbours;          /* whether components are paired with neighbours */
  int32_t all, pairs;      /* how many pairs there are, and how many propose */
  int32_t *first, *second; /* components of each pair */
  int32_t *place;          /* of each pair among the proposing ones; -1: proposes nothing */
  int32_t *pair, *side;    /* see wb_mixture_pairs */
  int64_t *anchor;         /* two of each proposing pair */
  int32_t *kind;           /* of the launch of each pair */
  double *log_uniform;     /* of each pair */
  double *joined;          /* statistics of U, of each proposing pair */
  double *halves;          /* statistics of its halves */
  double *factor, *offset, *log_constant, *log_probability;
  double *scale, *average, *values; /* working memory: a packed triangle, twice columns */
} moves;

static double *statistics_of(const moves *m, int32_t j) { return wb_mixture_statistics_of(m->state, j); }

static double floor_of(const moves *m, int32_t column) {
  const double floor = m->prior->floor ? m->prior->floor[column] : 0;
  return floor > 1e-12 ? floor : 1e-12;
}

static double count_of(const moves *m, int32_t j) { return statistics_of(m, j)[0]; }

static double log_marginal(const moves *m, const double *statistics) {
  return wb_mixture_log_marginal(m->prior, m->of_prior, statistics, m->average, m->scale);
}

/* log p(z | alpha) as if the two held n_first and n_second rows, up to terms without their split. */
static double log_labels(const moves *m, int32_t first, int32_t second, double n_first, double n_second) {
  const int32_t k = m->state->components, low = first < second ? first : second, high = first < second ? second : first;
  const double n_high = first < second ? n_second : n_first, n_low = first < second ? n_first : n_second;
  const double alpha = m->state->concentration;
  double behind = n_high, sum = wb_lgamma(1 + n_low) + wb_lgamma((high == k - 1 ? alpha : 1) + n_high), product = 1;
  for (int32_t j = high + 1; j < k; j++) behind += count_of(m, j);
  for (int32_t j = high - 1; j >= low; j--) {
    if (j <= k - 3) product *= alpha + behind;
    if (product > 1e200 || product < 1e-200) {
      sum -= wb_log(product);
      product = 1;
    }
    behind += count_of(m, j);
  }
  return sum - wb_log(product);
}

static double log_sum(double a, double b) { return a > b ? a + wb_log1p(wb_exp(b - a)) : b + wb_log1p(wb_exp(a - b)); }

/* log [p(U in a) + p(U in b)]. */
static double log_joined(const moves *m, int32_t g, double rows) {
  return log_sum(log_labels(m, m->first[g], m->second[g], rows, 0), log_labels(m, m->first[g], m->second[g], 0, rows));
}

/* Upper bound of log_joined() - log_labels() over what other components hold, since earlier pairs may change it. */
static double log_joined_at_most(const moves *m, int32_t g) {
  const int32_t k = m->state->components, a = m->first[g], b = m->second[g], low = a < b ? a : b, high = a < b ? b : a;
  const double n_low = count_of(m, low), n_high = count_of(m, high), rows = n_low + n_high;
  const double alpha = m->state->concentration, last = high == k - 1 ? alpha : 1;
  const int32_t factors = (high - 1 < k - 3 ? high - 1 : k - 3) - low + 1;
  const double in_low = wb_lgamma(1 + rows) + wb_lgamma(last) + factors * wb_log((alpha + n_high) / alpha);
  return log_sum(in_low, wb_lgamma(last + rows)) - wb_lgamma(1 + n_low) - wb_lgamma(last + n_high);
}

static void shuffle_components(const moves *m, uint64_t key, uint32_t iteration, int32_t *order) {
  const int32_t k = m->state->components;
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PAIR, iteration, (uint64_t)k);
  for (int32_t j = 0; j < k; j++) order[j] = j;
  for (int32_t j = k - 1; j > 0; j--) {
    int32_t other = (int32_t)(wb_stream_uniform(&stream) * (j + 1));
    const int32_t kept = order[j];
    if (other > j) other = j;
    order[j] = order[other];
    order[other] = kept;
  }
}

/* The squared distance between the means of two components, each column in units of the sum of their variances. */
static double distance_between(const moves *m, int32_t a, int32_t b) {
  const int32_t p = m->state->columns;
  const double *one = statistics_of(m, a), *other = statistics_of(m, b);
  double sum = 0;
  for (int32_t c = 0; c < p; c++) {
    const size_t square = 1 + (size_t)p + wb_packed_at(c, c);
    const double mean = one[1 + c] / one[0], second = other[1 + c] / other[0];
    const double variance = one[square] / one[0] - mean * mean + other[square] / other[0] - second * second;
    sum += (mean - second) * (mean - second) / (variance > floor_of(m, c) ? variance : floor_of(m, c));
  }
  return sum;
}

/* Exchanges order[from] with the component nearest to a that has rows, among order[from], order[from + 1], ... */
static void bring_nearest(const moves *m, int32_t a, int32_t from, int32_t *order) {
  double least = wb_infinity();
  int32_t best = from;
  if (count_of(m, a) == 0) return;
  for (int32_t i = from; i < m->state->components; i++) {
    if (count_of(m, order[i]) == 0) continue;
    const double distance = distance_between(m, a, order[i]);
    if (!(distance < least)) continue;
    least = distance;
    best = i;
  }
  const int32_t kept = order[from];
  order[from] = order[best];
  order[best] = kept;
}

static void pair_components(moves *m, uint64_t key, uint32_t iteration) {
  int32_t *order = m->pair; /* not needed yet */
  shuffle_components(m, key, iteration, order);
  for (int32_t g = 0; g < m->all; g++) {
    if (m->neighbours) bring_nearest(m, order[2 * g], 2 * g + 1, order);
    m->first[g] = order[2 * g];
    m->second[g] = order[2 * g + 1];
  }
}

/* Chooses pairs that can be accepted: no join that would be refused even with q = 1 and the best order of labels. */
static void choose_pairs(moves *m, uint64_t key, uint32_t iteration) {
  const int32_t k = m->state->components;
  const size_t size = WB_MIXTURE_STATISTICS(m->state->columns);
  pair_components(m, key, iteration);
  for (int32_t j = 0; j < k; j++) m->pair[j] = m->side[j] = -1;
  m->pairs = 0;
  for (int32_t g = 0; g < m->all; g++) {
    const int32_t a = m->first[g], b = m->second[g];
    const double n_a = count_of(m, a), n_b = count_of(m, b), rows = n_a + n_b;
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_PAIR, iteration, (uint64_t)g);
    m->log_uniform[g] = wb_log(wb_stream_uniform(&stream));
    m->place[g] = -1;
    m->kind[g] = BALL;
    if (rows < 2) continue;
    double *joined = m->joined + (size_t)m->pairs * size;
    for (size_t i = 0; i < size; i++) joined[i] = statistics_of(m, a)[i] + statistics_of(m, b)[i];
    const int holds_both = n_a > 0 && n_b > 0;
    if (m->neighbours && !holds_both) continue;
    if (holds_both) {
      const double most = log_marginal(m, joined) - log_marginal(m, statistics_of(m, a)) -
                          log_marginal(m, statistics_of(m, b)) + log_joined_at_most(m, g);
      if (!(m->log_uniform[g] < most)) continue;
    }
    m->pair[a] = m->pair[b] = m->place[g] = m->pairs++;
    if (holds_both) {
      m->side[a] = 0;
      m->side[b] = 1;
    }
  }
}

static int expect(const moves *m, const double *statistics, double *factor) {
  const int32_t p = m->state->columns;
  const double n = statistics[0], shrink = 1 / (1 + m->prior->mean_scale * n);
  wb_mixture_posterior_scale(m->prior, statistics, m->average, factor);
  for (size_t i = 0; i < wb_packed_size(p); i++) factor[i] /= m->prior->df + n + p + 1;
  if (wb_cholesky(p, factor) != 0) return 0;
  wb_triangle_inverse(p, factor, factor);
  for (int32_t r = 0; r < p; r++)
    m->average[r] = (m->prior->mean[r] + m->prior->mean_scale * statistics[1 + r]) * shrink;
  return 1;
}

static int estimate(moves *m, size_t half, double rows) {
  const int32_t p = m->state->columns;
  const double *statistics = m->halves + half * WB_MIXTURE_STATISTICS(p), n = statistics[0];
  double *factor = m->factor + half * wb_packed_size(p);
  if (!expect(m, statistics, factor)) return 0;
  wb_triangle_apply(p, factor, m->average, m->offset + half * (size_t)p);
  const double trace = m->prior->floor ? wb_component_floor_trace(p, factor, m->prior->floor) : 0;
  m->log_constant[half] = wb_log((n + 0.5) / (rows + 1)) + wb_triangle_log_determinant(p, factor) - 0.5 * trace;
  return 1;
}

/* Sets a constant density: for the halves of a pair that has given up, and for the other values beside a spike. */
static void clear_half(moves *m, size_t half) {
  const int32_t p = m->state->columns;
  memset(m->factor + half * wb_packed_size(p), 0, wb_packed_size(p) * sizeof(double));
  memset(m->offset + half * (size_t)p, 0, (size_t)p * sizeof(double));
  m->log_constant[half] = 0;
}

static double log_uniform_between(double low, double high, double u) { return low * wb_exp(u * wb_log(high / low)); }

/* Tells values of column r near `value`, closer than about three `sd`, from all others. */
static void begin_spike(moves *m, size_t half, int32_t r, double value, double sd) {
  const int32_t p = m->state->columns;
  clear_half(m, half);
  clear_half(m, half ^ 1);
  m->factor[half * wb_packed_size(p) + wb_packed_at(r, r)] = 1 / sd;
  m->offset[half * (size_t)p + (size_t)r] = value / sd;
  m->log_constant[half] = SPIKE_LOG_ODDS;
}

/* Sets the two densities with which a launch begins; 0 if there are none. */
static int begin_launch(moves *m, int32_t g, uint64_t key, uint32_t iteration) {
  const int32_t p = m->state->columns;
  const size_t triangle = wb_packed_size(p), place = (size_t)m->place[g], half = 2 * place;
  int64_t *anchor = m->anchor + half;
  const double *joined = m->joined + place * WB_MIXTURE_STATISTICS(p);
  double *factor = m->factor + half * triangle, *offset = m->offset + half * (size_t)p;
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PAIR, iteration, (uint64_t)g);
  (void)wb_stream_uniform(&stream); /* used by choose_pairs() */
  (void)wb_stream_uniform(&stream); /* used by order_labels() */
  const double kind = wb_stream_uniform(&stream), which = wb_stream_uniform(&stream),
               width = wb_stream_uniform(&stream);
  m->kind[g] = kind >= SHARE_BALL + SHARE_ATOM ? SPIKE : kind >= SHARE_BALL && m->spots->atoms ? ATOM : BALL;
  if (m->kind[g] == ATOM) {
    const size_t atom = (size_t)(which * m->spots->atoms);
    const int32_t r = (int32_t)m->spots->atom[2 * atom];
    anchor[0] = anchor[1] = -1;
    begin_spike(m, half + (width < 0.5), r, m->spots->atom[2 * atom + 1], SPIKE_SD * wb_sqrt(floor_of(m, r)));
    return 1;
  }
  if (anchor[0] < 0 || anchor[1] < 0 || anchor[0] == anchor[1]) return 0;
  m->status = wb_mixture_scaled_row(m->chain->backend, m->chain->session, m->spots->data, anchor[0], m->values,
                                    m->chain->message);
  if (m->status != WB_OK) return 0;
  if (m->kind[g] == SPIKE) {
    const int32_t r = (int32_t)(which * p);
    const double low = SPIKE_SD * wb_sqrt(floor_of(m, r)), mean = joined[1 + r] / joined[0];
    const double variance = joined[1 + p + wb_packed_at(r, r)] / joined[0] - mean * mean;
    const double high = 0.5 * wb_sqrt(variance > low * low ? variance : low * low);
    begin_spike(m, half, r, m->values[r], high > low ? log_uniform_between(low, high, width) : low);
    return 1;
  }
  if (!expect(m, joined, factor)) return 0;
  memcpy(factor + triangle, factor, triangle * sizeof(double));
  const double sd = log_uniform_between(LEAST_SD, 1, width);
  wb_triangle_apply(p, factor, m->average, offset + p);
  for (size_t i = 0; i < triangle; i++) factor[i] /= sd;
  wb_triangle_apply(p, factor, m->values, offset);
  m->log_constant[half] = -p * wb_log(sd);
  m->log_constant[half + 1] = 0;
  return 1;
}

static void decide(moves *m, int32_t g) {
  const size_t size = WB_MIXTURE_STATISTICS(m->state->columns), place = (size_t)m->place[g];
  const int32_t a = m->first[g], b = m->second[g];
  double *own = statistics_of(m, a), *others = statistics_of(m, b);
  const int joins = m->side[a] >= 0;
  const double *first = joins ? own : m->halves + 2 * place * size, *second = joins ? others : first + size;
  const double *joined = m->joined + place * size;
  const double n_a = first[0], n_b = second[0], rows = joined[0];
  if (!(n_a > 0 && n_b > 0)) return;
  const double log_odds = log_marginal(m, first) + log_marginal(m, second) - log_marginal(m, joined) +
                          log_labels(m, a, b, n_a, n_b) - log_joined(m, g, rows) +
                          (m->kind[g] == ATOM ? 0 : wb_log(rows * rows / (n_a * n_b))) - m->log_probability[place];
  if (!(m->log_uniform[g] < (joins ? -log_odds : log_odds))) return;
  if (joins) {
    memcpy(own, joined, size * sizeof(double));
    memset(others, 0, size * sizeof(double));
  } else {
    memcpy(own, first, size * sizeof(double));
    memcpy(others, second, size * sizeof(double));
  }
}

static void order_labels(moves *m, int32_t g, uint64_t key, uint32_t iteration) {
  const int32_t a = m->first[g], b = m->second[g];
  const double n_a = count_of(m, a), n_b = count_of(m, b);
  if (n_a == n_b) return;
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PAIR, iteration, (uint64_t)g);
  (void)wb_stream_uniform(&stream);
  const double log_odds = log_labels(m, a, b, n_b, n_a) - log_labels(m, a, b, n_a, n_b);
  if (!(wb_stream_uniform(&stream) * (1 + wb_exp(-log_odds)) < 1)) return;
  double *own = statistics_of(m, a), *others = statistics_of(m, b);
  for (size_t i = 0; i < WB_MIXTURE_STATISTICS(m->state->columns); i++) {
    const double kept = own[i];
    own[i] = others[i];
    others[i] = kept;
  }
}

/* Sets the densities of the halves of pair g. A join of neighbours has no launch: it uses the present halves. */
static int prepare_step(moves *m, int32_t g, uint32_t step, uint64_t key, uint32_t iteration) {
  const size_t size = WB_MIXTURE_STATISTICS(m->state->columns), half = 2 * (size_t)m->place[g];
  if (m->neighbours) {
    memcpy(m->halves + half * size, statistics_of(m, m->first[g]), size * sizeof(double));
    memcpy(m->halves + (half + 1) * size, statistics_of(m, m->second[g]), size * sizeof(double));
  } else if (step == 0) {
    return begin_launch(m, g, key, iteration);
  }
  const double rows = m->joined[(size_t)m->place[g] * size];
  return estimate(m, half, rows) && estimate(m, half + 1, rows);
}

static int propose(moves *m, uint32_t iteration) {
  const wb_mixture_functions *const table = m->chain->backend->mixture;
  wb_mixture_session *const session = m->chain->session;
  const uint64_t key = m->chain->key;
  const wb_mixture_pairs pairs = {m->state->components, m->pairs, m->pair, m->side};
  const wb_mixture_parameters halves = {2 * m->pairs, m->factor, m->offset, m->log_constant};
  WB_TRY(table->choose_anchors(session, &pairs, key, iteration, m->anchor, m->chain->message));
  for (uint32_t step = m->neighbours ? STEPS : 0; step <= STEPS; step++) {
    for (int32_t g = 0; g < m->all; g++) {
      if (m->place[g] < 0 || prepare_step(m, g, step, key, iteration)) continue;
      if (m->status != WB_OK) return m->status;
      clear_half(m, 2 * (size_t)m->place[g]);
      clear_half(m, 2 * (size_t)m->place[g] + 1);
      m->place[g] = -1;
    }
    WB_TRY(table->draw_halves(session, &pairs, &halves, m->anchor, step == STEPS, key, iteration, step, m->halves,
                              m->log_probability, m->chain->message));
  }
  return WB_OK;
}

int wb_mixture_split_merge(wb_mixture_chain *chain, const wb_mixture_spots *spots, int neighbours, uint32_t iteration) {
  wb_mixture_state *const state = &chain->state;
  const size_t k = (size_t)state->components, p = (size_t)state->columns,
               pairs = k / 2 < WB_MIXTURE_MOST_PAIRS ? k / 2 : WB_MIXTURE_MOST_PAIRS;
  const size_t size = WB_MIXTURE_STATISTICS(state->columns), triangle = wb_packed_size(state->columns);
  if (pairs == 0 || spots->data->rows > UINT32_MAX) return WB_OK;
  moves m = {.chain = chain,
             .status = WB_OK,
             .prior = &chain->prior,
             .state = state,
             .all = (int32_t)pairs,
             .spots = spots,
             .neighbours = neighbours};
  void *const memory = WB_PARTS(
      "the split and merge moves", chain->message, WB_PART(m.log_uniform, pairs), WB_PART(m.joined, pairs * size),
      WB_PART(m.halves, 2 * pairs * size), WB_PART(m.factor, 2 * pairs * triangle), WB_PART(m.offset, 2 * pairs * p),
      WB_PART(m.log_constant, 2 * pairs), WB_PART(m.log_probability, pairs), WB_PART(m.scale, triangle),
      WB_PART(m.average, p), WB_PART(m.values, p), WB_PART(m.anchor, 2 * pairs), WB_PART(m.first, pairs),
      WB_PART(m.second, pairs), WB_PART(m.place, pairs), WB_PART(m.kind, pairs), WB_PART(m.pair, k),
      WB_PART(m.side, k));
  if (!memory) return WB_ERROR_MEMORY;
  int status = wb_mixture_fetch_statistics(chain);
  m.of_prior = wb_mixture_log_marginal_prior(m.prior, m.scale);
  if (status == WB_OK) choose_pairs(&m, chain->key, iteration);
  if (status == WB_OK && m.pairs > 0) status = propose(&m, iteration);
  for (int32_t g = 0; g < (int32_t)pairs && status == WB_OK; g++) {
    if (m.place[g] >= 0) decide(&m, g);
    order_labels(&m, g, chain->key, iteration);
  }
  wb_aligned_free(memory);
  if (status == WB_OK) status = wb_mixture_send_statistics(chain, 0, state->components);
  return status;
}
