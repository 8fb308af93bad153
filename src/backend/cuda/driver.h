// driver.h: NVIDIA's driver, opened at run time: nothing to link, and no GPU needed to build.
//
// The part of the driver's interface that is used here (CUDA 11 and later), by its own names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace frit::cuda {

using Result = int;  // CUresult: 0 is success
using DeviceNumber = int;
using Pointer = std::uint64_t;  // CUdeviceptr
using Context = struct ContextOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;

inline constexpr Result out_of_memory = 2, not_ready = 600;
inline constexpr int attribute_multiprocessors = 16, attribute_major = 75;
inline constexpr unsigned stream_non_blocking = 1, event_without_timing = 2;

struct Driver {
  Result (*cuInit)(unsigned flags);
  Result (*cuDeviceGetCount)(int* count);
  Result (*cuDeviceGet)(DeviceNumber* device, int ordinal);
  Result (*cuDeviceGetName)(char* name, int length, DeviceNumber device);
  Result (*cuDeviceGetAttribute)(int* value, int attribute, DeviceNumber device);
  Result (*cuDevicePrimaryCtxRetain)(Context* context, DeviceNumber device);
  Result (*cuCtxSetCurrent)(Context context);
  Result (*cuGetErrorString)(Result error, const char** text);
  Result (*cuStreamCreate)(Stream* stream, unsigned flags);
  Result (*cuStreamSynchronize)(Stream stream);
  Result (*cuStreamQuery)(Stream stream);
  Result (*cuEventCreate)(Event* event, unsigned flags);
  Result (*cuEventRecord)(Event event, Stream stream);
  Result (*cuEventSynchronize)(Event event);
  Result (*cuMemAlloc)(Pointer* memory, std::size_t bytes);
  Result (*cuMemFree)(Pointer memory);
  Result (*cuMemAllocHost)(void** memory, std::size_t bytes);
  Result (*cuMemcpyHtoDAsync)(Pointer to, const void* from, std::size_t bytes, Stream stream);
  Result (*cuMemcpyDtoHAsync)(void* to, Pointer from, std::size_t bytes, Stream stream);
  Result (*cuMemcpyDtoDAsync)(Pointer to, Pointer from, std::size_t bytes, Stream stream);
  Result (*cuMemsetD32Async)(Pointer to, unsigned value, std::size_t count, Stream stream);
  Result (*cuModuleLoadDataEx)(Module* module, const void* text, unsigned count, int* options,
                               void** values);
  Result (*cuModuleGetFunction)(Function* function, Module module, const char* name);
  Result (*cuLaunchKernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, Stream stream, void** parameters, void** extra);

  Driver();                                           // throws DeviceError
  void check(Result result, const char* what) const;  // throws DeviceError
};

}  // namespace frit::cuda
