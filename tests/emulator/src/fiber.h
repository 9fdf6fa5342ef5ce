/* Fibers: separate stacks on one operating system thread, and the switch between them. Each CUDA thread is a fiber, and
 * so is the host code that launches. */
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
  void *stack_pointer; /* valid while the fiber is not running */
  char *stack;         /* lowest address; the host's fiber gets it at the first switch */
  size_t stack_size;
#ifdef WB_EMULATOR_UCONTEXT
  ucontext_t *context;
#endif
#ifdef WB_EMULATOR_ASAN
  void *fake_stack;
  bool marked; /* frames on the stack may still be poisoned by the sanitizer */
#endif
#ifdef WB_EMULATOR_TSAN
  void *tsan; /* the sanitizer's handle of the thread that this fiber plays */
  struct Turn {
    void *tsan;
    char *stack;
  } turns[3]; /* see fiber_prepare() */
  unsigned turn;
#endif
};

/* Makes a fiber and its stack. `index` staggers the tops of the stacks, which would otherwise compete for the same sets
 * of the cache. */
void fiber_open(Fiber *fiber, unsigned index);
/* Makes the fiber start in `entry` at the next switch to it. `entry` never returns. */
void fiber_prepare(Fiber *fiber, void (*entry)(void));
void fiber_close(Fiber *fiber);
/* Makes a fiber of the code that calls this. */
void fiber_adopt(Fiber *fiber);
void fiber_switch(Fiber *from, Fiber *to);
/* Tells the sanitizer that the fiber's functions have returned and that it will only switch away for ever. */
void fiber_ended(Fiber *fiber);
/* The first call in a fiber's entry. */
void fiber_entered(void);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
