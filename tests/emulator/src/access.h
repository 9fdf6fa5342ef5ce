/* The state of memory in a build with --sanitize=access: the bytes that a kernel may touch, and the bytes that have
 * been written. In other builds these functions do nothing. */
#ifndef WB_EMULATOR_ACCESS_H
#define WB_EMULATOR_ACCESS_H

#include <stddef.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

enum Memory { DEVICE_MEMORY, PINNED_MEMORY, SHARED_MEMORY };

#ifdef WB_EMULATOR_ACCESS
/* Declares these bytes to be memory of this kind, not yet written. */
void access_open(const void *start, size_t size, Memory kind, const char *name);
void access_close(const void *start);
/* Marks the region as not written. */
void access_renew(const void *start);
/* The host wrote these bytes. access_copied(): `to` counts as written where `from` does. */
void access_written(const void *start, size_t size);
void access_copied(const void *to, const void *from, size_t size);
#else
static inline void access_open(const void *, size_t, Memory, const char *) {}
static inline void access_close(const void *) {}
static inline void access_renew(const void *) {}
static inline void access_written(const void *, size_t) {}
static inline void access_copied(const void *, const void *, size_t) {}
#endif

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
