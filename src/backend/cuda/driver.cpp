// driver.cpp: the driver's functions, found by name.
#include "backend/cuda/driver.h"

#include "ir/error.h"
#include "ir/library.h"

namespace frit::cuda {

Driver::Driver() {
  const auto find = [](auto& function, const char* name) {
    function = find_function<std::remove_reference_t<decltype(function)>>("libcuda.so.1", name);
  };
  // What has a second version has it under a name of its own.
  find(cuInit, "cuInit");
  find(cuDeviceGetCount, "cuDeviceGetCount");
  find(cuDeviceGet, "cuDeviceGet");
  find(cuDeviceGetName, "cuDeviceGetName");
  find(cuDeviceGetAttribute, "cuDeviceGetAttribute");
  find(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(cuCtxSetCurrent, "cuCtxSetCurrent");
  find(cuGetErrorString, "cuGetErrorString");
  find(cuStreamCreate, "cuStreamCreate");
  find(cuStreamSynchronize, "cuStreamSynchronize");
  find(cuStreamQuery, "cuStreamQuery");
  find(cuEventCreate, "cuEventCreate");
  find(cuEventRecord, "cuEventRecord");
  find(cuEventSynchronize, "cuEventSynchronize");
  find(cuMemAlloc, "cuMemAlloc_v2");
  find(cuMemFree, "cuMemFree_v2");
  find(cuMemAllocHost, "cuMemAllocHost_v2");
  find(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  find(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  find(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  find(cuMemsetD32Async, "cuMemsetD32Async");
  find(cuModuleLoadDataEx, "cuModuleLoadDataEx");
  find(cuModuleGetFunction, "cuModuleGetFunction");
  find(cuLaunchKernel, "cuLaunchKernel");
  check(cuInit(0), "cuInit");
}

void Driver::check(Result result, const char* what) const {
  if (result == 0) return;
  const char* words = nullptr;
  if (cuGetErrorString(result, &words) != 0 || !words) words = "unknown error";
  throw DeviceError(text("CUDA: ", what, ": ", words));
}

}  // namespace frit::cuda
