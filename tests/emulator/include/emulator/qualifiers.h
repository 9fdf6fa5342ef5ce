/* CUDA's qualifiers as attributes of the host compiler. */
#ifndef WB_EMULATOR_QUALIFIERS_H
#define WB_EMULATOR_QUALIFIERS_H

/* The alignment distinguishes kernels from other functions in the symbol table. */
#define WB_EMULATOR_KERNEL_ALIGNMENT 1024
#define __global__ __attribute__((aligned(WB_EMULATOR_KERNEL_ALIGNMENT)))
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __CUDA_ALIGN__(n) __align__(n)
#define CUDART_CB

/* CUDA's __noinline__ is missing: headers of libstdc++ from GCC 13 on use this name for an attribute, and they may be
 * included after this one. __attribute__((noinline)) means the same to nvcc and here. */

/* A block's shared memory. Thread-local storage puts these variables, and nothing else, in one section whose symbols
 * the emulator can list. The emulator fills each variable before a block starts and guards the gaps between them
 * (src/shared.cpp). All fibers of a launch run on one operating system thread and share one copy. */
#define __shared__ static __thread

/* Dynamic shared memory as an array of `type` called `name`. It replaces the sources' own definition, whose
 * `extern __shared__` array has no meaning here. */
#define WB_EMULATOR_DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(::wb_emulator::dynamic_shared())
#define WB_DYNAMIC_SHARED WB_EMULATOR_DYNAMIC_SHARED

#endif
