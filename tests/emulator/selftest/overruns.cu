/* Accesses out of bounds that the address sanitizer must stop, one for each run. Argument 1 is the number of the
 * access; access 0 is correct. The program prints what it ran if nothing stopped it. */
#include "check.h"

#include <cstdlib>

struct Access {
  const char *what;
  int fixed_first, fixed_second, dynamic, device, pinned;
};

/* Reads one element of each kind of memory; the index is in bounds or one past the end. */
__global__ void reads(Access at, const double *device, const double *pinned, double *out) {
  __shared__ double first[32];
  __shared__ float second[3];
  WB_DYNAMIC_SHARED(double, dynamic);
  first[threadIdx.x] = 1;
  dynamic[threadIdx.x] = 1;
  if (threadIdx.x < 3) second[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = first[at.fixed_first] + (double)second[at.fixed_second] + dynamic[at.dynamic] + device[at.device] +
                     pinned[at.pinned];
}

/* Reads beyond the end of a local array on the fiber's own stack. */
__global__ void reads_local(int index, double *out) {
  double local[8];
  for (int i = 0; i < 8; i++) local[i] = out[i];
  __syncthreads();
  out[threadIdx.x] = local[index];
}

int main(int argc, char **argv) {
  static const Access accesses[] = {
      {"nothing", 0, 0, 0, 0, 0},      {"first[32]", 32, 0, 0, 0, 0},    {"first[-1]", -1, 0, 0, 0, 0},
      {"second[3]", 0, 3, 0, 0, 0},    {"second[-1]", 0, -1, 0, 0, 0},   {"dynamic[32]", 0, 0, 32, 0, 0},
      {"dynamic[-1]", 0, 0, -1, 0, 0}, {"device[100]", 0, 0, 0, 100, 0}, {"device[-1]", 0, 0, 0, -1, 0},
      {"pinned[10]", 0, 0, 0, 0, 10},
  };
  const int count = (int)(sizeof accesses / sizeof accesses[0]);
  const int number = argc == 2 ? atoi(argv[1]) : 0;
  double *device = nullptr, *out = nullptr, *pinned = nullptr;
  if (cudaMalloc(&device, 100 * sizeof(double)) != cudaSuccess ||
      cudaMalloc(&out, 32 * sizeof(double)) != cudaSuccess ||
      cudaMallocHost(&pinned, 10 * sizeof(double)) != cudaSuccess)
    return 2;
  cudaError_t error;
  if (number < count) error = check::run(2, 32, 32 * sizeof(double), reads, accesses[number], device, pinned, out);
  else if (number == count) error = check::run(2, 32, 0, reads_local, 8, out);
  else return 3; /* no more */
  if (cudaFree(device) != cudaSuccess || cudaFree(out) != cudaSuccess || cudaFreeHost(pinned) != cudaSuccess) return 2;
  std::printf("ran: %s\n", number < count ? accesses[number].what : "local[8]");
  return error != cudaSuccess;
}
