/* Stands in for CUDA's header of this name when a host C++ compiler compiles .cu files. It has a part of the CUDA
 * runtime and of the device language, with the meaning given in the CUDA C++ Programming Guide and the CUDA Runtime API
 * reference. A name that is missing here is a compile error, so no kernel runs on guesses. */
#ifndef WB_EMULATOR_CUDA_RUNTIME_H
#define WB_EMULATOR_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#define WB_EMULATOR 1

#include "emulator/qualifiers.h"
#include "emulator/vector_types.h"
#include "emulator/errors.h"
#include "emulator/host.h"
#include "emulator/device.h"
#include "emulator/warp.h"
#include "emulator/atomics.h"
#include "emulator/intrinsics.h"
#include "emulator/launch.h"

#endif
