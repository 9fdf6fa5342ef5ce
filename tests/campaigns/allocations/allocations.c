/* Counts the allocations of memory by warpbayes.so, and refuses the one with a given number. run.sh preloads this, so
 * that calls of malloc() come here; those of R and other libraries always succeed. */
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static uintptr_t low, high; /* the addresses of warpbayes.so */
static atomic_long made, held, refused;

static int is_ours(const void *caller) { return (uintptr_t)caller >= low && (uintptr_t)caller < high; }

/* Whether this allocation succeeds. */
static int is_granted(const void *caller) {
  if (!is_ours(caller)) return 1;
  if (atomic_fetch_add(&made, 1) + 1 == atomic_load(&refused)) return 0;
  atomic_fetch_add(&held, 1);
  return 1;
}

void *malloc(size_t size) { return is_granted(__builtin_return_address(0)) ? __libc_malloc(size) : NULL; }

void *calloc(size_t count, size_t size) {
  return is_granted(__builtin_return_address(0)) ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *memory, size_t size) {
  if (!is_granted(__builtin_return_address(0))) return NULL;
  if (memory && is_ours(__builtin_return_address(0))) atomic_fetch_sub(&held, 1);
  return __libc_realloc(memory, size);
}

void free(void *memory) {
  if (memory && is_ours(__builtin_return_address(0))) atomic_fetch_sub(&held, 1);
  __libc_free(memory);
}

static int find(struct dl_phdr_info *library, size_t size, void *unused) {
  (void)size, (void)unused;
  const size_t length = strlen(library->dlpi_name);
  if (length < 12 || strcmp(library->dlpi_name + length - 12, "warpbayes.so") != 0) return 0;
  low = UINTPTR_MAX;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *const part = library->dlpi_phdr + i;
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t begin = library->dlpi_addr + part->p_vaddr;
    if (begin < low) low = begin;
    if (begin + part->p_memsz > high) high = begin + part->p_memsz;
  }
  return 1;
}

/* For .C(). at: the number of the allocation to refuse, from 1; 0: none. */
void allocations_arm(int *at) {
  if (!high) (void)dl_iterate_phdr(find, NULL);
  atomic_store(&made, 0);
  atomic_store(&refused, *at);
}

void allocations_count(int *calls, int *kept) {
  *calls = (int)atomic_load(&made);
  *kept = (int)atomic_load(&held);
}
