/* Fibers: guarded stacks, and a switch that saves only the registers that a function must preserve by the System V ABI.
 * The portable swapcontext() makes a system call for the signal mask in each switch and is ten times slower. */
#include "fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#ifdef WB_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WB_EMULATOR_TSAN
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
}
#endif

namespace wb_emulator {

/* Twice the largest local arrays of a kernel, with room for the sanitizers' additions. */
#if defined(WB_EMULATOR_ASAN) || defined(WB_EMULATOR_TSAN)
static const size_t STACK_SIZE = 512 * 1024;
#else
static const size_t STACK_SIZE = 128 * 1024;
#endif

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static char *stack_take(void) {
  const size_t page = page_size();
  void *const memory =
      mmap(NULL, STACK_SIZE + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, page, PROT_NONE); /* an overflow ends in a fault instead of another stack */
  return (char *)memory + page;
}

static void stack_give_back(char *stack) {
#ifdef WB_EMULATOR_ASAN
  __asan_unpoison_memory_region(stack, STACK_SIZE);
#endif
  munmap(stack - page_size(), STACK_SIZE + page_size());
}

void fiber_open(Fiber *fiber, unsigned index) {
  memset(fiber, 0, sizeof *fiber);
  fiber->stack_size = STACK_SIZE - (index % 32) * 192;
#ifdef WB_EMULATOR_TSAN
  for (Fiber::Turn &turn : fiber->turns) {
    turn.tsan = __tsan_create_fiber(0);
    turn.stack = stack_take();
  }
#else
  fiber->stack = stack_take();
#endif
#ifdef WB_EMULATOR_UCONTEXT
  fiber->context = new ucontext_t;
#endif
}

void fiber_close(Fiber *fiber) {
#ifdef WB_EMULATOR_TSAN
  for (const Fiber::Turn &turn : fiber->turns) {
    __tsan_destroy_fiber(turn.tsan);
    stack_give_back(turn.stack);
  }
#else
  stack_give_back(fiber->stack);
#endif
#ifdef WB_EMULATOR_UCONTEXT
  delete fiber->context;
#endif
}

void fiber_prepare(Fiber *fiber, void (*entry)(void)) {
#ifdef WB_EMULATOR_ASAN
  /* A fiber that was abandoned when another one failed leaves poisoned frames on its stack. Only such stacks are
   * cleared: clearing every stack would take most of the time of a kernel with many short blocks. */
  if (fiber->marked) __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
  fiber->marked = true;
  fiber->fake_stack = NULL;
#endif
#ifdef WB_EMULATOR_TSAN
  /* The sanitizer is slow to make a thread. So its threads, each with its stack, are used again in every third block. A
   * block and the third one after it then look ordered. All other pairs of blocks do not. */
  const Fiber::Turn &turn = fiber->turns[fiber->turn++ % 3];
  fiber->tsan = turn.tsan;
  fiber->stack = turn.stack;
#endif
#ifdef WB_EMULATOR_UCONTEXT
  getcontext(fiber->context);
  fiber->context->uc_stack.ss_sp = fiber->stack;
  fiber->context->uc_stack.ss_size = fiber->stack_size;
  fiber->context->uc_link = NULL;
  makecontext(fiber->context, entry, 0);
#else
  /* The stack looks as it does after a call: a return address on top, here none, at 8 modulo 16. */
  uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_size) & ~(uintptr_t)15;
  void **frame = (void **)top;
  *--frame = NULL;
  *--frame = (void *)entry;
  fiber->stack_pointer = frame;
#endif
}

void fiber_adopt(Fiber *fiber) {
  memset(fiber, 0, sizeof *fiber);
#ifdef WB_EMULATOR_UCONTEXT
  static ucontext_t host;
  fiber->context = &host;
#endif
#ifdef WB_EMULATOR_TSAN
  fiber->tsan = __tsan_get_current_fiber();
#endif
}

#ifdef WB_EMULATOR_ASAN
/* The fiber that was left last. The sanitizer tells the bounds of its stack only after the switch. */
static Fiber *left;
#endif

void fiber_entered(void) {
#ifdef WB_EMULATOR_ASAN
  const void *bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
  if (left->stack == NULL) {
    left->stack = (char *)const_cast<void *>(bottom);
    left->stack_size = size;
  }
#endif
}

void fiber_ended(Fiber *fiber) {
#ifdef WB_EMULATOR_ASAN
  fiber->marked = false;
#else
  (void)fiber;
#endif
}

__attribute__((noinline)) void fiber_switch(Fiber *from, Fiber *to) {
#ifdef WB_EMULATOR_ASAN
  left = from;
  __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_size);
#endif
#ifdef WB_EMULATOR_TSAN
  __tsan_switch_to_fiber(to->tsan, 1); /* 1: the switch itself orders nothing */
#endif
#ifdef WB_EMULATOR_UCONTEXT
  swapcontext(from->context, to->context);
#else
  /* The return address is on the stack, as a call would leave it, but it is reached by a jump. The processor predicts
   * the jump better than a return that matches no call. The first instruction steps over the red zone below the stack
   * pointer. */
  void **save = &from->stack_pointer;
  void *load = to->stack_pointer;
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n\t"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp\n\t"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "cc", "memory");
#endif
#ifdef WB_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

} // namespace wb_emulator
