/* Tells the thread sanitizer which events are ordered. Everything before happens_before(edge) in one fiber happens
 * before everything after happens_after(edge) in another fiber. Switching fibers orders nothing. In other builds these
 * functions do nothing. */
#ifndef WB_EMULATOR_ORDER_H
#define WB_EMULATOR_ORDER_H

#include <stddef.h>
#include <stdlib.h>

#ifdef WB_EMULATOR_TSAN
extern "C" {
void __tsan_acquire(void *address);
void __tsan_release(void *address);
/* Part of the interface for runtimes that manage memory themselves. */
void __tsan_java_alloc(unsigned long address, unsigned long size);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif

#pragma GCC visibility push(hidden)
namespace wb_emulator {

#ifdef WB_EMULATOR_TSAN
static inline void happens_before(void *edge) { __tsan_release(edge); }
static inline void happens_after(void *edge) { __tsan_acquire(edge); }
/* The sanitizer forgets earlier accesses to this memory, as if it were new. */
static inline void memory_is_new(void *memory, size_t size) {
  if (size != 0) __tsan_java_alloc((unsigned long)memory, size);
}
/* While an object of this class exists, the sanitizer ignores the fiber's accesses: malloc() and the like belong to the
 * scheduler and not to the kernel. */
struct OwnBusiness {
  OwnBusiness() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~OwnBusiness() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};
#else
static inline void happens_before(void *) {}
static inline void happens_after(void *) {}
static inline void memory_is_new(void *, size_t) {}
struct OwnBusiness {
  OwnBusiness() {}
};
#endif

/* Edges for operations that follow each other. There are two in turn, since a thread may arrive at the next operation
 * before another thread has returned from this one. */
class Edges {
public:
  void *now() const { return memory_ + 16 * (turn_ & 1); }
  void next() { turn_++; }
#ifdef WB_EMULATOR_TSAN
  /* Takes new edges, because an edge keeps everything that was released at it. */
  void renew() {
    const OwnBusiness own;
    free(memory_);
    memory_ = static_cast<char *>(malloc(32));
  }
  void release() { free(memory_); }

private:
  char *memory_ = nullptr;
#else
  void renew() {}
  void release() {}

private:
  static constexpr char *memory_ = nullptr;
#endif
  unsigned turn_ = 0;
};

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
