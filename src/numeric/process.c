/* Whether this process is a forked child, and whether the compiled code may leave it. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "core/rounding.h"

#include "numeric/process.h"

#include <stdlib.h> /* defines __GLIBC__ there */

static int forked = 0;
static const char *forbidden = NULL;

int wb_forked(void) { return forked; }

#ifdef _WIN32
void wb_fork_watch(void) {}
#else
#include <pthread.h>

static void note_fork(void) { forked = 1; }

void wb_fork_watch(void) { pthread_atfork(NULL, NULL, note_fork); }
#endif

void wb_unload_forbid(const char *why) { forbidden = why; }

#if defined(__GLIBC__)

#include <dlfcn.h>

#ifdef _OPENMP
#include <omp.h>

/* The file with the function at an address, or NULL. */
static const char *file_of(void *address) {
  Dl_info found;
  return dladdr(address, &found) ? found.dli_fname : NULL;
}

static const char *openmp_obstacle(void) {
  const char *const openmp = file_of((void *)(size_t)omp_get_num_procs);
  /* It is part of this library if it was linked statically. */
  if (!openmp || openmp == file_of((void *)&forbidden)) return "its threads run code of the same file";
  return dlopen(openmp, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) ? NULL : "OpenMP's threads would lose their code";
}
#else
static const char *openmp_obstacle(void) { return NULL; }
#endif

/* glibc forgets the handler of forks when the library goes. */
const char *wb_unload_obstacle(void) { return forbidden ? forbidden : openmp_obstacle(); }

#else

/* Elsewhere a handler of forks may stay, or OpenMP be a part of this library. */
const char *wb_unload_obstacle(void) { return forbidden ? forbidden : "this system could call it after it is gone"; }

#endif
