/* Fibers: stacks of their own on one operating system thread, and the switch
 * between them. A CUDA thread is a fiber; so is the host code that launches. */
#ifndef WB_EMULATOR_FIBER_H
#define WB_EMULATOR_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(WB_EMULATOR_UCONTEXT)
#define WB_EMULATOR_UCONTEXT
#endif
#ifdef WB_EMULATOR_UCONTEXT
#include <ucontext.h>
#endif

#pragma GCC visibility push(hidden)
namespace wb_emulator {

struct Fiber {
  void *stack_pointer; /* of a fiber that is not running */
  char *stack;         /* lowest address; for the host's fiber filled in at the first switch */
  size_t stack_size;
#ifdef WB_EMULATOR_UCONTEXT
  ucontext_t *context;
#endif
#ifdef WB_EMULATOR_ASAN
  void *fake_stack;
  bool marked; /* frames on the stack may still be marked for the sanitizer */
#endif
#ifdef WB_EMULATOR_TSAN
  void *tsan; /* what the sanitizer takes for the running thread */
  struct Turn {
    void *tsan;
    char *stack;
  } turns[3]; /* see fiber_prepare() */
  unsigned turn;
#endif
};

/* A fiber with its stack; `index` staggers the tops of the stacks, which
 * would otherwise compete for the same sets of the cache. */
void fiber_open(Fiber *fiber, unsigned index);
/* Makes the fiber start in `entry`, which never returns, at the next switch to it. */
void fiber_prepare(Fiber *fiber, void (*entry)(void));
void fiber_close(Fiber *fiber);
/* The fiber of the code that calls this. */
void fiber_adopt(Fiber *fiber);
void fiber_switch(Fiber *from, Fiber *to);
/* Its functions have returned: what is left is the switch away, for ever. */
void fiber_ended(Fiber *fiber);
/* The first thing a fiber's entry does. */
void fiber_entered(void);

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
