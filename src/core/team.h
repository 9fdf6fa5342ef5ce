/* One small problem shared by the threads of a block of a graphics card, or done by one thread of the processor. Every
 * member of a team calls the same functions in the same order. A loop that the members share goes from `rank` on in
 * steps of `size`. One member computes a whole number, so the team's size changes no bit. Others may read it after
 * WB_TEAM_BARRIER(). cuda/mixture/components.cu defines WB_TEAM and this. */
#pragma once

#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "core/unroll.h"

#ifndef WB_TEAM_BARRIER
#define WB_TEAM WB_HD
#define WB_TEAM_BARRIER() ((void)0)
#endif

typedef struct wb_team {
  int rank, size;
} wb_team;

/* wb_cholesky(), column by column, with the same sums. After a failure the triangle is neither matrix nor factor. */
WB_TEAM int wb_team_cholesky(wb_team team, int p, double *a) {
  WB_ROLLED
  for (int c = 0; c < p; c++) {
    double *top = a + wb_packed_row(c);
    double pivot = top[c];
    for (int k = 0; k < c; k++) pivot = wb_fma(-top[k], top[k], pivot);
    if (!(pivot > 0.0 && pivot < wb_infinity())) return 1 + c;
    pivot = wb_sqrt(pivot);
    WB_ROLLED
    for (int r = c + 1 + team.rank; r < p; r += team.size) {
      double *row = a + wb_packed_row(r);
      double sum = row[c];
      for (int k = 0; k < c; k++) sum = wb_fma(-row[k], top[k], sum);
      row[c] = sum / pivot;
    }
    WB_TEAM_BARRIER();
    if (team.rank == 0) top[c] = pivot;
  }
  WB_TEAM_BARRIER();
  return 0;
}

/* wb_triangle_inverse(); each member computes whole columns. The result may not overwrite L. */
WB_TEAM void wb_team_triangle_inverse(wb_team team, int p, const double *l, double *inverse) {
  WB_ROLLED
  for (int c = team.rank; c < p; c += team.size) {
    const double *row = l + wb_packed_row(c);
    double *const top = inverse + wb_packed_row(c) + (size_t)c;
    double *out = top;
    WB_ROLLED
    for (int r = c; r < p; row += ++r, out += r) {
      const double *entry = top;
      double sum = 0.0;
      for (int k = c; k < r; entry += ++k) sum = wb_fma(row[k], *entry, sum);
      *out = (r > c ? -sum : 1.0) / row[r];
    }
  }
  WB_TEAM_BARRIER();
}

/* wb_triangle_multiply(). The result may overwrite neither L nor M. */
WB_TEAM void wb_team_triangle_multiply(wb_team team, int p, const double *l, const double *m, double *product) {
  WB_ROLLED
  for (int r = 0; r < p; r++) {
    const double *row = l + wb_packed_row(r);
    double *out = product + wb_packed_row(r);
    WB_ROLLED
    for (int c = team.rank; c <= r; c += team.size) {
      const double *entry = m + wb_packed_row(c) + (size_t)c;
      double sum = 0.0;
      for (int k = c; k <= r; entry += ++k) sum = wb_fma(row[k], *entry, sum);
      out[c] = sum;
    }
  }
  WB_TEAM_BARRIER();
}

/* Solves L x = b; x holds b at the start. */
WB_TEAM void wb_team_triangle_solve(wb_team team, int p, const double *l, double *x) {
  WB_ROLLED
  for (int c = 0; c < p; c++) {
    const double value = x[c] / l[wb_packed_row(c) + (size_t)c];
    for (int r = c + 1 + team.rank; r < p; r += team.size) x[r] = wb_fma(-l[wb_packed_row(r) + (size_t)c], value, x[r]);
    WB_TEAM_BARRIER();
    if (team.rank == 0) x[c] = value;
  }
  WB_TEAM_BARRIER();
}

/* One block of the generator gives two of the normals normal[0], ..., normal[count - 1], and this writes them. Entry i
 * takes word `word` + i of a stream that was just opened. The block of entry 0 has b = 0. */
WB_TEAM void wb_team_block_of_normals(const wb_stream *stream, uint32_t word, int b, int count, double *normal) {
  const int first = 2 * b - (int)(word & 1);
  if (first >= count) return;
  const wb_bits bits = wb_philox(stream->key, word / 2 + (uint32_t)b, stream->c1, stream->c2, stream->c3);
  WB_ROLLED
  for (int which = 0; which < 2; which++) {
    const int at = first + which;
    if (at >= 0 && at < count) normal[at] = wb_normal_quantile_within(wb_uniform(wb_bits64(bits, which)));
  }
}

/* `count` normals from the first words of a stream. */
WB_TEAM void wb_team_normals(wb_team team, const wb_stream *stream, int count, double *normal) {
  WB_ROLLED
  for (int b = team.rank; 2 * b < count; b += team.size) wb_team_block_of_normals(stream, 0, b, count, normal);
}

/* wb_draw_wishart_gram_factor() with df >= p + 1 and a new stream. `first`, `taken`: working memory of p doubles each.
 * Usually each gamma takes two words. Each member draws a gamma at the place that this implies. Those after the first
 * that took more are drawn again. */
WB_TEAM void wb_team_wishart_gram_factor(wb_team team, const wb_stream *stream, int p, double df, double *first,
                                         double *taken, double *packed_lower) {
  uint32_t word = 0; /* where row `done` begins */
  WB_ROLLED
  for (int done = 0; done < p;) {
    const int mine = done + team.rank;
    if (mine < p) {
      const uint32_t begin = word + (uint32_t)((mine - done) * (mine + done + 3) / 2);
      wb_stream rest = wb_stream_from(*stream, begin + (uint32_t)mine);
      const double gamma = wb_draw_gamma_from_one(&rest, 0.5 * (df - (double)(p - 1 - mine)));
      packed_lower[wb_packed_row(mine) + (size_t)mine] = wb_sqrt(2.0 * gamma);
      first[mine] = begin;
      taken[mine] = wb_stream_word(&rest) - begin;
    }
    WB_TEAM_BARRIER();
    const int end = p - done < team.size ? p : done + team.size;
    int expected = 1;
    WB_ROLLED
    while (done < end && expected) {
      word += (uint32_t)taken[done];
      expected = taken[done] == done + 2;
      done++;
    }
    WB_TEAM_BARRIER();
  }
  int b = team.rank;
  WB_ROLLED
  for (int r = 0; r < p; r++) {
    WB_ROLLED
    for (; 2 * b < r + 1; b += team.size)
      wb_team_block_of_normals(stream, (uint32_t)first[r], b, r, packed_lower + wb_packed_row(r));
    b -= (r + 2) / 2;
  }
  WB_TEAM_BARRIER();
}
