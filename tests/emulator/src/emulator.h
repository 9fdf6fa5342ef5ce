/* What the plugin exports for tests besides its backend. All arguments are
 * pointers, so that R's .C can call each function. */
#ifndef WB_EMULATOR_H
#define WB_EMULATOR_H

#pragma GCC visibility push(default)
extern "C" {

/* The at-th call of the CUDA runtime from now on fails with this error code; 0: none
 * does. An error that CUDA would give later than a launch is given later. */
void wb_emulator_fail(const int *at, const int *error);
/* Calls of the CUDA runtime since the plugin was loaded, but for cudaGetLastError,
 * cudaPeekAtLastError, cudaGetErrorName and cudaGetErrorString. */
void wb_emulator_calls(int *count);
/* How many devices there are, up to 16. */
void wb_emulator_devices(const int *count);
/* The compute capability of all devices; 9 and 0 at first. */
void wb_emulator_capability(const int *major, const int *minor);
/* Bytes of memory of each device; 0: 4 GiB. */
void wb_emulator_memory(const double *bytes);
/* Device memory and pinned host memory in use, in bytes, and streams and events. */
void wb_emulator_usage(double *device_bytes, double *pinned_bytes, int *handles);
/* The text of the last failure that the emulator found or caused. */
void wb_emulator_failure(char **text, const int *size);
/* As if the process had just started: no error, no failure asked for. What is
 * allocated stays. */
void wb_emulator_reset(void);

}
#pragma GCC visibility pop

#endif
