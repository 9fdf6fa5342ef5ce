/* Runs long pieces of work on POSIX threads. */
#include "core/rounding.h"

#include "numeric/together.h"

#include <stdlib.h>

#include "numeric/process.h"

#ifndef _WIN32

#include <pthread.h>
#include <signal.h>

typedef struct piece {
  wb_piece *work;
  void *context;
  int32_t number;
  int started;
  pthread_t thread;
} piece;

/* A new thread has as little as 512 KB on some systems. */
#define STACK_BYTES ((size_t)8 << 20)

static void *do_piece(void *argument) {
  const piece *const p = argument;
  p->work(p->context, p->number);
  return NULL;
}

static void start_pieces(piece *piece_of, int32_t pieces) {
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int32_t i = 1; i < pieces; i++)
    piece_of[i].started = pthread_create(&piece_of[i].thread, &attributes, do_piece, piece_of + i) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
}

void wb_together(int32_t pieces, wb_piece *work, void *context) {
  piece *const piece_of = pieces > 1 && !wb_forked() ? calloc((size_t)pieces, sizeof *piece_of) : NULL;
  for (int32_t i = 0; i < pieces && piece_of; i++) piece_of[i] = (piece){.work = work, .context = context, .number = i};
  if (piece_of) start_pieces(piece_of, pieces);
  for (int32_t i = 0; i < pieces; i++)
    if (!piece_of || !piece_of[i].started) work(context, i);
  for (int32_t i = 0; i < pieces && piece_of; i++)
    if (piece_of[i].started) (void)pthread_join(piece_of[i].thread, NULL);
  free(piece_of);
}

#else

void wb_together(int32_t pieces, wb_piece *work, void *context) {
  for (int32_t i = 0; i < pieces; i++) work(context, i);
}

#endif
