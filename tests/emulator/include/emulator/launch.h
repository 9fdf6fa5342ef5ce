/* cudaLaunchKernelEx: converts the arguments to the kernel's parameter types and copies them once. Every thread of the
 * grid gets its own copies of these. */
#ifndef WB_EMULATOR_LAUNCH_H
#define WB_EMULATOR_LAUNCH_H

/* No launch attribute changes a result, so attrs must be empty. */
struct cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* A kernel with its arguments. `call(closure)` runs one thread of the kernel. A copy of the closure lives until the
 * kernel has run. */
struct Closure {
  Closure *(*copy)(const Closure *closure);
  void (*destroy)(Closure *closure);
  void (*call)(const Closure *closure);
  size_t size; /* bytes, including the arguments */
};

cudaError_t launch(const cudaLaunchConfig_t *config, const void *kernel, const Closure *closure);

/* Only implicit conversions, as with nvcc. */
template <typename T>
static inline T converted(typename std::common_type<T>::type value) {
  return value;
}

template <typename... Parameters>
struct KernelClosure : Closure {
  void (*kernel)(Parameters...);
  std::tuple<typename std::decay<Parameters>::type...> arguments;

  template <typename... Arguments>
  KernelClosure(void (*kernel_)(Parameters...), Arguments &&...arguments_)
      : kernel(kernel_), arguments(converted<Parameters>(std::forward<Arguments>(arguments_))...) {
    copy = &duplicate;
    destroy = &remove;
    call = &run;
    size = sizeof *this;
  }
  template <size_t... Index>
  void apply(std::index_sequence<Index...>) const {
    kernel(std::get<Index>(arguments)...);
  }
  static Closure *duplicate(const Closure *closure) {
    return new KernelClosure(*static_cast<const KernelClosure *>(closure));
  }
  static void remove(Closure *closure) { delete static_cast<KernelClosure *>(closure); }
  static void run(const Closure *closure) {
    static_cast<const KernelClosure *>(closure)->apply(std::index_sequence_for<Parameters...>());
  }
};

} // namespace wb_emulator
#pragma GCC visibility pop

template <typename... Parameters, typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Arguments &&...arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "a kernel is launched with all its arguments");
  const wb_emulator::KernelClosure<Parameters...> closure(kernel, std::forward<Arguments>(arguments)...);
  return wb_emulator::launch(config, reinterpret_cast<const void *>(kernel), &closure);
}

#endif
