/* Cores that other programs use, from the times that Linux keeps for each core (man 5 proc, /proc/stat). */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "core/rounding.h"

#include "numeric/idle.h"

#include <stdlib.h>

#ifdef __linux__

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Processor seconds since the machine started, of the cores that this process may use. */
typedef struct reading {
  double at;   /* seconds of the clock */
  double busy; /* of all programs */
  double own;  /* of this process */
  int cores;   /* 0: the system does not tell */
} reading;

#define LOOK_EVERY 0.1
/* After a longer pause the times say nothing about now. */
#define PAUSE 1.0
/* A core of which others use less than this counts as idle. */
#define UNNOTICED 0.35

static double seconds_of(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

static int read_text(const char *path, char *text, size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t held = 0;
  long got;
  while (held < size - 1 && (got = (long)read(file, text + held, size - 1 - held)) > 0) held += (size_t)got;
  (void)close(file);
  text[held] = 0;
  return held > 0 && strstr(text, "\nintr") != NULL;
}

/* A line is "cpu3 user nice system idle iowait irq softirq steal ...", in ticks. */
static void read_cores(reading *now) {
  char text[1 << 15];
  cpu_set_t mine;
  now->cores = 0;
  now->busy = 0;
  const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !read_text("/proc/stat", text, sizeof text)) return;
  for (const char *line = strchr(text, '\n'); line && strncmp(line, "\ncpu", 4) == 0; line = strchr(line + 1, '\n')) {
    char *at;
    const long core = strtol(line + 4, &at, 10);
    if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET((size_t)core, &mine)) continue;
    now->cores++;
    for (int column = 0; column < 8; column++) {
      const double ticks = (double)strtoull(at, &at, 10);
      if (column != 3 && column != 4) now->busy += ticks * tick;
    }
  }
}

/* Chains that run at the same time all ask. */
static int idle_threads(int wanted) {
  static reading last;
  static double others = 0;
  static int fixed;
  reading now = {.at = seconds_of(CLOCK_MONOTONIC)};
  const double passed = now.at - last.at;
  if (passed >= LOOK_EVERY) {
    fixed = getenv("WARPBAYES_FIXED_THREADS") != NULL;
    now.own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    read_cores(&now);
    if (passed > PAUSE || now.cores == 0 || now.cores != last.cores) {
      others = 0;
    } else {
      const double used = (now.busy - last.busy - (now.own - last.own)) / passed;
      others = 0.5 * others + 0.5 * (used > 0 ? used : 0);
    }
    last = now;
  }
  const double left = last.cores - others + UNNOTICED;
  if (fixed || last.cores == 0 || left >= wanted) return wanted;
  return left < 1 ? 1 : (int)left;
}

int wb_idle_threads(int wanted) {
  int threads = wanted;
  if (wanted < 2) return wanted;
#pragma omp critical(wb_idle)
  threads = idle_threads(wanted);
  return threads;
}

#else

int wb_idle_threads(int wanted) { return wanted; }

#endif
