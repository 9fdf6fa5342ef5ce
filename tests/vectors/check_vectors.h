/* Compares results of core/ with the known answers in the lines of the *.txt files. check_vectors.c evaluates the lines
 * on the processor, as C or through check_vectors.cpp as C++. check_vectors.cu evaluates them on a graphics card.
 *
 * A line is   function arguments = values   ; # begins a comment. Whole numbers are written 0x... or in decimal, real
 * numbers exactly, in any form that strtod reads. Values must agree in every bit; any NaN equals any other.
 */
#ifndef WB_CHECK_VECTORS_H
#define WB_CHECK_VECTORS_H

#include <stdio.h>
#include <stdlib.h>

#include "core/copula.h"
#include "core/philox.h"
#include "core/polyagamma_draw.h"
#include "core/polyagamma_moments.h"
#include "core/random_beta.h"
#include "core/random_binomial.h"
#include "core/random_t.h"
#include "core/random_tables.h"
#include "core/random_wishart.h"

#define WB_CASE_WORDS 5
#define WB_CASE_NUMBERS 4
#define WB_CASE_VALUES 6

/* clang-format off */
typedef enum wb_function {
  WB_F_EXP, WB_F_EXP_WEIGHT, WB_F_EXPM1, WB_F_LOG, WB_F_LOG1P, WB_F_LOG1MEXP, WB_F_SQRT, WB_F_LGAMMA,
  WB_F_NORMAL_QUANTILE, WB_F_NORMAL_CDF, WB_F_COPULA, WB_F_STUDENT, WB_F_EXP_WEIGHTF, WB_F_LOGF,
  WB_F_PHILOX, WB_F_CHAIN_KEY, WB_F_UNIFORM, WB_F_UNIFORMF,
  WB_F_STREAM_BITS, WB_F_STREAM_UNIFORM, WB_F_NORMAL, WB_F_EXPONENTIAL, WB_F_LOG_GAMMA, WB_F_GAMMA,
  WB_F_LOG_BETA, WB_F_LOG_DIRICHLET, WB_F_TABLES, WB_F_BINOMIAL, WB_F_WISHART_GRAM_FACTOR,
  WB_F_SINE_COSINE, WB_F_ANGLE,
  WB_F_POLYAGAMMA, WB_F_POLYAGAMMA_BY, WB_F_POLYAGAMMA_CUMULANT, WB_F_POLYAGAMMA_LAW, WB_F_POLYAGAMMA_QUANTILE
} wb_function;
/* clang-format on */

/* words: the number of whole numbers before the real ones. Those of a stream are key, purpose, iteration and element.
 * integers: whether the values are whole numbers. */
typedef struct wb_signature {
  const char *name;
  wb_function function;
  int words, numbers, values, integers;
} wb_signature;

static const wb_signature wb_signatures[] = {
    {"exp", WB_F_EXP, 0, 1, 1, 0},
    {"exp_weight", WB_F_EXP_WEIGHT, 0, 1, 1, 0},
    {"expm1", WB_F_EXPM1, 0, 1, 1, 0},
    {"log", WB_F_LOG, 0, 1, 1, 0},
    {"log1p", WB_F_LOG1P, 0, 1, 1, 0},
    {"log1mexp", WB_F_LOG1MEXP, 0, 1, 1, 0},
    {"sqrt", WB_F_SQRT, 0, 1, 1, 0},
    {"lgamma", WB_F_LGAMMA, 0, 1, 1, 0},
    {"normal_quantile", WB_F_NORMAL_QUANTILE, 0, 1, 1, 0},
    {"normal_cdf", WB_F_NORMAL_CDF, 0, 1, 1, 0},
    {"copula", WB_F_COPULA, 0, 3, 2, 0}, /* u rho z; conditional, density */
    {"exp_weightf", WB_F_EXP_WEIGHTF, 0, 1, 1, 0},
    {"logf", WB_F_LOGF, 0, 1, 1, 0},
    {"philox", WB_F_PHILOX, 5, 0, 4, 1},       /* key c0 c1 c2 c3 */
    {"chain_key", WB_F_CHAIN_KEY, 2, 0, 1, 1}, /* seed chain */
    {"uniform", WB_F_UNIFORM, 1, 0, 1, 0},     /* bits */
    {"uniformf", WB_F_UNIFORMF, 1, 0, 1, 0},   /* bits */
    {"stream_bits", WB_F_STREAM_BITS, 4, 0, 5, 1},
    {"stream_uniform", WB_F_STREAM_UNIFORM, 4, 0, 5, 0},
    {"normal", WB_F_NORMAL, 4, 0, 5, 0},
    {"student", WB_F_STUDENT, 4, 1, 5, 0}, /* df */
    {"exponential", WB_F_EXPONENTIAL, 4, 0, 5, 0},
    {"log_gamma", WB_F_LOG_GAMMA, 4, 1, 5, 0},                     /* shape */
    {"gamma", WB_F_GAMMA, 4, 1, 5, 0},                             /* shape */
    {"log_beta", WB_F_LOG_BETA, 4, 2, 6, 0},                       /* a b; log v, log(1 - v), three times */
    {"log_dirichlet", WB_F_LOG_DIRICHLET, 4, 3, 6, 0},             /* three shapes; twice */
    {"tables", WB_F_TABLES, 4, 2, 5, 0},                           /* concentration, customers */
    {"binomial", WB_F_BINOMIAL, 4, 2, 5, 0},                       /* trials, probability */
    {"wishart_gram_factor", WB_F_WISHART_GRAM_FACTOR, 4, 1, 6, 0}, /* df; p = 3 */
    {"sine_cosine", WB_F_SINE_COSINE, 0, 1, 2, 0},
    {"angle", WB_F_ANGLE, 0, 2, 1, 0},                 /* y x */
    {"polyagamma", WB_F_POLYAGAMMA, 3, 2, 3, 0},       /* key iteration element, shape tilt; three elements */
    {"polyagamma_by", WB_F_POLYAGAMMA_BY, 4, 2, 1, 0}, /* way key iteration element, shape tilt */
    {"polyagamma_cumulant", WB_F_POLYAGAMMA_CUMULANT, 1, 2, 1, 0},  /* order, shape tilt */
    {"polyagamma_law", WB_F_POLYAGAMMA_LAW, 0, 3, 3, 0},            /* x shape tilt; logs of density and tails */
    {"polyagamma_quantile", WB_F_POLYAGAMMA_QUANTILE, 0, 3, 2, 0}}; /* log p, shape tilt; lower, upper */

typedef struct wb_case {
  int signature; /* index into wb_signatures */
  int line;
  wb_function function;
  uint64_t word[WB_CASE_WORDS];
  double number[WB_CASE_NUMBERS];
  uint64_t expected[WB_CASE_VALUES]; /* whole numbers, or the bits of doubles */
  uint64_t computed[WB_CASE_VALUES];
} wb_case;

static inline uint64_t wb_case_absent(void) { return 0xFFF8DEADDEADDEADu; /* a NaN that no function returns */ }

WB_HD void wb_case_evaluate(wb_case *one) {
  double x = one->number[0];
  double value[WB_CASE_VALUES];
  uint64_t *bits = one->computed;
  wb_stream stream = wb_stream_open(one->word[0], (uint32_t)one->word[1], (uint32_t)one->word[2], one->word[3]);
  for (int i = 0; i < WB_CASE_VALUES; i++) value[i] = 0.0;
  switch (one->function) {
    case WB_F_EXP: value[0] = wb_exp(x); break;
    case WB_F_EXP_WEIGHT: value[0] = wb_exp_weight(x); break;
    case WB_F_EXPM1: value[0] = wb_expm1(x); break;
    case WB_F_LOG: value[0] = wb_log(x); break;
    case WB_F_LOG1P: value[0] = wb_log1p(x); break;
    case WB_F_LOG1MEXP: value[0] = wb_log1mexp(x); break;
    case WB_F_SQRT: value[0] = wb_sqrt(x); break;
    case WB_F_LGAMMA: value[0] = wb_lgamma(x); break;
    case WB_F_NORMAL_CDF: value[0] = wb_normal_cdf(x); break;
    case WB_F_NORMAL_QUANTILE: value[0] = wb_normal_quantile(x); break;
    case WB_F_EXP_WEIGHTF: value[0] = (double)wb_exp_weightf((float)x); break;
    case WB_F_LOGF: value[0] = (double)wb_logf((float)x); break;
    case WB_F_PHILOX: {
      wb_bits block = wb_philox(one->word[0], (uint32_t)one->word[1], (uint32_t)one->word[2], (uint32_t)one->word[3],
                                (uint32_t)one->word[4]);
      for (int i = 0; i < 4; i++) bits[i] = block.word[i];
      return;
    }
    case WB_F_CHAIN_KEY: bits[0] = wb_chain_key(one->word[0], (uint32_t)one->word[1]); return;
    case WB_F_UNIFORM: value[0] = wb_uniform(one->word[0]); break;
    case WB_F_UNIFORMF: value[0] = (double)wb_uniformf((uint32_t)one->word[0]); break;
    case WB_F_STREAM_BITS:
      for (int i = 0; i < 5; i++) bits[i] = wb_stream_bits(&stream);
      return;
    case WB_F_STREAM_UNIFORM:
      for (int i = 0; i < 5; i++) value[i] = wb_stream_uniform(&stream);
      break;
    case WB_F_COPULA: {
      const double scale = wb_copula_scale(one->number[1]);
      const wb_copula_pair pair = wb_copula_gaussian(x, scale, one->number[1] * scale * one->number[2]);
      value[0] = pair.conditional;
      value[1] = pair.density;
      break;
    }
    case WB_F_STUDENT:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_t(&stream, x);
      break;
    case WB_F_NORMAL:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_normal(&stream);
      break;
    case WB_F_EXPONENTIAL:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_exponential(&stream);
      break;
    case WB_F_LOG_GAMMA:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_log_gamma(&stream, x);
      break;
    case WB_F_GAMMA:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_gamma(&stream, x);
      break;
    case WB_F_LOG_BETA:
      for (int i = 0; i < 6; i += 2) wb_draw_log_beta(&stream, x, one->number[1], &value[i], &value[i + 1]);
      break;
    case WB_F_LOG_DIRICHLET:
      for (int i = 0; i < 6; i += 3) wb_draw_log_dirichlet(&stream, 3, one->number, &value[i]);
      break;
    case WB_F_TABLES:
      for (int i = 0; i < 5; i++) value[i] = wb_draw_tables(&stream, x, one->number[1]);
      break;
    case WB_F_BINOMIAL:
      for (int i = 0; i < 5; i++)
        value[i] = (double)wb_draw_binomial(&stream, (int64_t)x, one->number[1], 1.0 - one->number[1]);
      break;
    case WB_F_SINE_COSINE: wb_sine_cosine(x, &value[0], &value[1]); break;
    case WB_F_ANGLE: value[0] = wb_angle(x, one->number[1]); break;
    case WB_F_POLYAGAMMA:
      for (int i = 0; i < 3; i++)
        value[i] =
            wb_polyagamma_draw(one->word[0], (uint32_t)one->word[1], one->word[2] + (uint64_t)i, x, one->number[1]);
      break;
    case WB_F_POLYAGAMMA_BY:
      value[0] = wb_polyagamma_draw_by((int)one->word[0], one->word[1], (uint32_t)one->word[2], one->word[3], x,
                                       one->number[1]);
      break;
    case WB_F_POLYAGAMMA_CUMULANT: value[0] = wb_polyagamma_cumulant(x, one->number[1], (int)one->word[0]); break;
    case WB_F_POLYAGAMMA_LAW:
      for (int i = 0; i < 3; i++) value[i] = wb_polyagamma_log_evaluate(i, x, one->number[1], one->number[2]);
      break;
    case WB_F_POLYAGAMMA_QUANTILE:
      for (int i = 0; i < 2; i++)
        value[i] =
            wb_polyagamma_quantile(i ? WB_POLYAGAMMA_UPPER : WB_POLYAGAMMA_LOWER, x, one->number[1], one->number[2]);
      break;
    case WB_F_WISHART_GRAM_FACTOR: wb_draw_wishart_gram_factor(&stream, 3, x, value); break;
  }
  for (int i = 0; i < WB_CASE_VALUES; i++) bits[i] = wb_double_bits(value[i]);
}

/* Evaluates the cases. Each driver defines it. Returns 0 on success. */
static int wb_cases_evaluate(wb_case *cases, size_t count);

static int wb_case_parse(const char *text, wb_case *one) {
  char name[64];
  int used = 0;
  if (sscanf(text, " %63s%n", name, &used) != 1) return 0;
  const int known = (int)(sizeof wb_signatures / sizeof wb_signatures[0]);
  for (one->signature = 0; one->signature < known; one->signature++) {
    if (strcmp(name, wb_signatures[one->signature].name) == 0) break;
  }
  if (one->signature == known) return 0;
  const wb_signature *signature = &wb_signatures[one->signature];
  one->function = signature->function;
  char *next = (char *)(text + used), *end;
  for (int i = 0; i < signature->words; i++, next = end) {
    one->word[i] = strtoull(next, &end, 0);
    if (end == next) return 0;
  }
  for (int i = 0; i < signature->numbers; i++, next = end) {
    one->number[i] = strtod(next, &end);
    if (end == next) return 0;
  }
  next += strspn(next, " ");
  if (*next++ != '=') return 0;
  for (int i = 0; i < signature->values; i++, next = end) {
    one->expected[i] = signature->integers ? strtoull(next, &end, 0) : wb_double_bits(strtod(next, &end));
    /* A new line has nothing after "=": --write fills in its values. */
    if (end == next) one->expected[i] = wb_case_absent();
  }
  return next[strspn(next, " \n")] == '\0';
}

static int wb_values_agree(const wb_signature *signature, uint64_t computed, uint64_t expected) {
  if (computed == expected) return 1;
  if (signature->integers || expected == wb_case_absent()) return 0;
  double a = wb_bits_double(computed), b = wb_bits_double(expected);
  return a != a && b != b;
}

static int wb_case_agrees(const wb_case *one) {
  const wb_signature *signature = &wb_signatures[one->signature];
  for (int i = 0; i < signature->values; i++) {
    if (!wb_values_agree(signature, one->computed[i], one->expected[i])) return 0;
  }
  return 1;
}

static void wb_case_print_values(const wb_case *one, const uint64_t *values) {
  const wb_signature *signature = &wb_signatures[one->signature];
  for (int i = 0; i < signature->values; i++) {
    double value = wb_bits_double(values[i]);
    if (signature->integers) {
      printf(" 0x%llx", (unsigned long long)values[i]);
    } else if (value != value) {
      printf(" nan");
    } else {
      printf(" %a", value);
    }
  }
}

/* Reads one file and compares. Returns the number of lines that differ, or -1 if the file cannot be used. With `write`
 * it prints the file with the computed values instead; the files were made in this way. */
static int wb_file_check(const char *path, int write, size_t *lines) {
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return -1;
  }
  size_t count = 0, room = 0;
  wb_case *cases = NULL;
  char text[512];
  int differences = 0;
  for (int line = 1; fgets(text, sizeof text, file); line++) {
    if (text[strspn(text, " \n")] == '#' || text[strspn(text, " \n")] == '\0') continue;
    if (count == room) {
      room = room ? 2 * room : 64;
      cases = (wb_case *)realloc(cases, room * sizeof *cases);
      if (!cases) abort();
    }
    memset(&cases[count], 0, sizeof cases[count]);
    cases[count].line = line;
    if (!wb_case_parse(text, &cases[count])) {
      fprintf(stderr, "%s:%d: not understood: %s", path, line, text);
      differences = -1;
      break;
    }
    count++;
  }
  if (differences == 0 && wb_cases_evaluate(cases, count) != 0) {
    fprintf(stderr, "%s: the device failed\n", path);
    differences = -1;
  }
  if (differences == 0 && write) {
    size_t i = 0;
    rewind(file);
    for (int line = 1; fgets(text, sizeof text, file); line++) {
      if (i < count && cases[i].line == line) {
        printf("%.*s=", (int)strcspn(text, "="), text);
        wb_case_print_values(&cases[i], cases[i].computed);
        printf("\n");
        i++;
      } else {
        printf("%s", text);
      }
    }
  } else if (differences == 0) {
    for (size_t i = 0; i < count; i++) {
      if (wb_case_agrees(&cases[i])) continue;
      differences++;
      printf("%s:%d: %s: expected", path, cases[i].line, wb_signatures[cases[i].signature].name);
      wb_case_print_values(&cases[i], cases[i].expected);
      printf("\n  computed");
      wb_case_print_values(&cases[i], cases[i].computed);
      printf("\n");
    }
  }
  free(cases);
  fclose(file);
  *lines += count;
  return differences;
}

static int wb_check_main(const char *platform, int argc, char **argv) {
  int write = argc > 1 && strcmp(argv[1], "--write") == 0;
  int failures = 0;
  size_t lines = 0;
  if (argc < 2 + write) {
    fprintf(stderr, "usage: %s [--write] FILE...\n", argv[0]);
    return 2;
  }
  for (int i = 1 + write; i < argc; i++) {
    int differences = wb_file_check(argv[i], write, &lines);
    if (differences < 0) return 2;
    failures += differences;
  }
  if (!write) printf("%s: %zu known answers, %d differ\n", platform, lines, failures);
  return failures != 0;
}

#endif
