/* What the race driver's build is told of the order of things. Everything before
 * happens_before(edge) in one fiber happens before what follows happens_after(edge) in
 * another; switching fibers orders nothing. Other builds take no notice. */
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
/* What was done to this memory before is forgotten, as if it were new. */
static inline void memory_is_new(void *memory, size_t size) {
  if (size != 0) __tsan_java_alloc((unsigned long)memory, size);
}
/* While it lives, the running fiber's use of malloc() and the like is the scheduler's
 * own business and not the kernel's. */
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

/* Edges for operations that follow each other: two in turn, since a thread may arrive
 * at the next operation before another has returned from this one. */
class Edges {
 public:
  void *now() const { return memory_ + 16 * (turn_ & 1); }
  void next() { turn_++; }
#ifdef WB_EMULATOR_TSAN
  /* Without memory of the past: what is released at an edge stays there. */
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

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
