/* Functions for tests, which every library exports. All arguments are pointers, so that R's .C can call each function.
 */
#ifndef WB_EMULATOR_H
#define WB_EMULATOR_H

#pragma GCC visibility push(default)
extern "C" {

/* The at-th call of the CUDA runtime from now on fails with this error code. With 0 none fails. An error that CUDA
 * would report later than the launch is reported later here too. */
void wb_emulator_fail(const int *at, const int *error);
/* The number of calls of the CUDA runtime since the library was loaded. cudaGetLastError, cudaPeekAtLastError,
 * cudaGetErrorName and cudaGetErrorString are not counted. */
void wb_emulator_calls(int *count);
/* Sets the number of devices, at most 16. */
void wb_emulator_devices(const int *count);
/* Sets the compute capability of all devices, initially 9.0. */
void wb_emulator_capability(const int *major, const int *minor);
/* Sets the bytes of memory of each device. 0 means 4 GiB. */
void wb_emulator_memory(const double *bytes);
/* Device memory and pinned host memory in use, in bytes, and the number of streams and events. */
void wb_emulator_usage(double *device_bytes, double *pinned_bytes, int *handles);
/* The text of the last failure that the emulator found or caused. */
void wb_emulator_failure(char **text, const int *size);
/* Clears errors and requested failures, as if the process had just started. Allocations stay. */
void wb_emulator_reset(void);
}
#pragma GCC visibility pop

#endif
