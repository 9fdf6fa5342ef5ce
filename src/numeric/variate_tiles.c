#include "core/rounding.h"

#include "numeric/variate_tiles.h"

#include "core/random_gamma_trial.h"

#define WB_LOOPS "numeric/variate_tiles_loops.h"
#include "numeric/isa.h"

void wb_variate_tiles(uint64_t key, wb_purpose purpose, uint32_t iteration, uint64_t first, int64_t count,
                      double *draws, wb_isa isa) {
  WB_LOOP(variates, isa)(key, purpose, iteration, first, count, draws);
}

void wb_variate_gammas(uint64_t key, uint32_t iteration, uint64_t first, int64_t count, const double *shape,
                       int64_t shapes, int64_t begin, double *draws, wb_isa isa) {
  _Alignas(64) double own[WB_PHILOX_TILE], tile[WB_PHILOX_TILE];
  int64_t place = begin % shapes;
  for (int64_t at = 0; at < count; at += WB_PHILOX_TILE) {
    const int64_t left = count - at, rows = left < WB_PHILOX_TILE ? left : WB_PHILOX_TILE;
    for (int64_t i = 0; i < WB_PHILOX_TILE; i++) {
      own[i] = shape[place];
      if (++place == shapes) place = 0;
    }
    WB_LOOP(variates_gamma, isa)(key, iteration, first + (uint64_t)at, own, tile);
    for (int64_t i = 0; i < rows; i++) draws[at + i] = own[i] < 1.0 ? -1.0 : tile[i];
  }
}
