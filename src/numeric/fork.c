/* Whether this process is a forked child. */
#include "core/rounding.h"

#include "numeric/fork.h"

static int forked = 0;

#ifndef _WIN32

#include <pthread.h>

static void note_fork(void) { forked = 1; }

void wb_fork_watch(void) { pthread_atfork(NULL, NULL, note_fork); }

#else

void wb_fork_watch(void) {}

#endif

int wb_forked(void) { return forked; }
