/* Keeps interrupts (SIGINT) away from R while messages go to and from the workers of a cluster. R's sockets heed them
 * even where R code suspends them (R_SelectEx() in R's sources), and half a message cannot be taken up again. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "entry/entry.h"

#include <signal.h>
#include <string.h>

#if defined(__linux__)

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The other threads of the process: their number, a sum that changes with them, and how many take SIGINT. */
typedef struct other_threads {
  int count, open;
  unsigned long long sum;
} other_threads;

static int takes_interrupts(const char *thread) {
  char path[64], line[256];
  unsigned long long blocked = 0;
  int found = 0;
  (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  FILE *const file = fopen(path, "r");
  if (!file) return 0; /* it has ended */
  while (!found && fgets(line, sizeof line, file)) found = sscanf(line, "SigBlk: %llx", &blocked) == 1;
  (void)fclose(file);
  return !found || !(blocked >> (SIGINT - 1) & 1);
}

/* The next other thread, and its name; 0 after the last. */
static long next_thread(DIR *tasks, const char **name) {
  const struct dirent *task;
  while ((task = readdir(tasks))) {
    const long thread = strtol(*name = task->d_name, NULL, 10);
    if (thread > 0 && thread != syscall(SYS_gettid)) return thread;
  }
  return 0;
}

/* Returns 0 if the system does not tell. With `known`, threads are not looked at if they are still the same. */
static int look_at_threads(other_threads *others, const other_threads *known) {
  DIR *const tasks = opendir("/proc/self/task");
  const char *name;
  if (!tasks) return 0;
  memset(others, 0, sizeof *others);
  for (int pass = 0; pass < 2; pass++) {
    for (long thread; (thread = next_thread(tasks, &name)) > 0;) {
      others->count += pass == 0;
      if (pass == 0) others->sum += (unsigned long long)thread * (unsigned long long)thread;
      else others->open += takes_interrupts(name);
    }
    if (pass == 0 && known && known->count == others->count && known->sum == others->sum) {
      others->open = known->open;
      break;
    }
    rewinddir(tasks);
  }
  (void)closedir(tasks);
  return 1;
}

static void mask_interrupts(int how, sigset_t *before) {
  sigset_t interrupt;
  (void)sigemptyset(&interrupt);
  (void)sigaddset(&interrupt, SIGINT);
  (void)pthread_sigmask(how, &interrupt, before);
}

static void block_after_return(int number, siginfo_t *information, void *context) {
  (void)number;
  (void)information;
  (void)sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGINT);
}

/* Makes all other threads (OpenMP, BLAS, CUDA) block interrupts, by a signal whose handler changes what they block. */
static void block_in_threads(void) {
  static int signal_number;
  struct sigaction action, current;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = block_after_return;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  (void)sigfillset(&action.sa_mask);
  for (int number = SIGRTMAX; !signal_number && number > SIGRTMIN; number--) {
    if (sigaction(number, NULL, &current) == 0 && !(current.sa_flags & SA_SIGINFO) && current.sa_handler == SIG_DFL &&
        sigaction(number, &action, NULL) == 0) {
      signal_number = number;
      wb_unload_forbid("it has the handler of a signal");
    }
  }
  DIR *const tasks = signal_number ? opendir("/proc/self/task") : NULL;
  const char *name;
  if (!tasks) return;
  for (long thread; (thread = next_thread(tasks, &name)) > 0;) {
    if (!takes_interrupts(name)) continue;
    (void)syscall(SYS_tgkill, (long)getpid(), thread, signal_number);
    for (int wait = 0; wait < 100 && takes_interrupts(name); wait++) (void)usleep(100);
  }
  (void)closedir(tasks);
}

/* Whether all other threads block interrupts. If not, one could run R's handler, which jumps into this one's stack. */
static int others_block(void) {
  static other_threads known;
  other_threads now;
  if (!look_at_threads(&now, &known)) return 0;
  if (now.open > 0 && (now.count != known.count || now.sum != known.sum)) {
    block_in_threads();
    if (!look_at_threads(&now, NULL)) return 0;
  }
  known = now;
  return now.open == 0;
}

static int block_interrupts(void) {
  sigset_t before;
  if (!others_block()) return 0;
  mask_interrupts(SIG_BLOCK, &before);
  return sigismember(&before, SIGINT) ? 0 : 1;
}

static void unblock_interrupts(int blocked) {
  if (blocked) mask_interrupts(SIG_UNBLOCK, NULL);
}

#else

static int block_interrupts(void) { return 0; }

static void unblock_interrupts(int blocked) { (void)blocked; }

#endif

/* Returns what wb_entry_interrupts_release() needs. */
SEXP wb_entry_interrupts_hold(void) { return Rf_ScalarLogical(block_interrupts()); }

/* again: whether an interrupt shall come after this. On Windows the signal would end R. */
SEXP wb_entry_interrupts_release(SEXP held, SEXP again) {
#ifndef _WIN32
  if (Rf_asLogical(again) == TRUE) (void)raise(SIGINT);
#else
  (void)again;
#endif
  unblock_interrupts(Rf_asLogical(held) == TRUE);
  return R_NilValue;
}

/* Signals after which R saves and ends, sent by batch systems. Between hold and release they wait, and release sends
 * them again; the one for the limit of a file's size is dropped. Returns whether this call made them wait. */
#ifndef _WIN32
static const int asks[] = {SIGUSR1, SIGUSR2, SIGXFSZ};
static volatile sig_atomic_t asked[3];
static struct sigaction answers[3];
static int holding;

static void note_signal(int number) { asked[number == SIGUSR1 ? 0 : number == SIGUSR2 ? 1 : 2] = 1; }
#endif

SEXP wb_entry_signals_hold(void) {
#ifndef _WIN32
  if (holding) return Rf_ScalarLogical(0);
  struct sigaction note;
  memset(&note, 0, sizeof note);
  note.sa_handler = note_signal;
  note.sa_flags = SA_RESTART;
  (void)sigemptyset(&note.sa_mask);
  holding = 1;
  for (int i = 0; i < 3; i++) (void)sigaction(asks[i], &note, answers + i);
#endif
  return Rf_ScalarLogical(1);
}

SEXP wb_entry_signals_wait(void) {
#ifndef _WIN32
  return Rf_ScalarLogical(asked[0] || asked[1]);
#else
  return Rf_ScalarLogical(0);
#endif
}

SEXP wb_entry_signals_release(void) {
#ifndef _WIN32
  for (int i = 0; i < 3 && holding; i++) (void)sigaction(asks[i], answers + i, NULL);
  holding = 0;
  for (int i = 0; i < 2; i++) {
    if (!asked[i]) continue;
    asked[i] = 0;
    (void)raise(asks[i]);
  }
#endif
  return R_NilValue;
}

/* Makes this process ignore interrupts, or heed them again as before. R, waiting for a message, replaces SIG_IGN, so
 * the signal is blocked too. What came meanwhile is forgotten. */
SEXP wb_entry_interrupts_ignore(SEXP ignore) {
#ifndef _WIN32
  static int ignoring, blocked;
  static struct sigaction before;
  if (Rf_asLogical(ignore) == TRUE && !ignoring) {
    struct sigaction none;
    memset(&none, 0, sizeof none);
    none.sa_handler = SIG_IGN;
    (void)sigemptyset(&none.sa_mask);
    blocked = block_interrupts();
    ignoring = sigaction(SIGINT, &none, &before) == 0;
  } else if (Rf_asLogical(ignore) != TRUE && ignoring) {
    unblock_interrupts(blocked);
    ignoring = sigaction(SIGINT, &before, NULL) != 0;
  }
#else
  (void)ignore;
#endif
  return R_NilValue;
}
