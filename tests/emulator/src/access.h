/* What is known of memory when the kernels are built with --sanitize=access: which
 * bytes a kernel may touch and which of them have been written. Other builds take no
 * notice. */
#ifndef WB_EMULATOR_ACCESS_H
#define WB_EMULATOR_ACCESS_H

#include <stddef.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

enum Memory { DEVICE_MEMORY, PINNED_MEMORY, SHARED_MEMORY };

#ifdef WB_EMULATOR_ACCESS
/* From now on these bytes are memory of this kind, unwritten. */
void access_open(const void *start, size_t size, Memory kind, const char *name);
void access_close(const void *start);
/* Forgets what was written. */
void access_renew(const void *start);
/* Written by the host, or as the other bytes are. */
void access_written(const void *start, size_t size);
void access_copied(const void *to, const void *from, size_t size);
#else
static inline void access_open(const void *, size_t, Memory, const char *) {}
static inline void access_close(const void *) {}
static inline void access_renew(const void *) {}
static inline void access_written(const void *, size_t) {}
static inline void access_copied(const void *, const void *, size_t) {}
#endif

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
