#pragma once

#include <QtGlobal>

#include <dlfcn.h>

namespace lathe::test {

/// Where this machine has no NVIDIA driver, the one that interprets kernels on the processor (tests/cuda_driver) takes
/// its place, here and in the workers. Before a device half is loaded.
inline void findCudaDriver()
{
#ifdef LATHE_CUDA_DRIVER_ON_CPU
    if (!qEnvironmentVariableIsEmpty("LATHE_CUDA_DRIVER"))
        return;
    if (void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); library != nullptr)
        ::dlclose(library);
    else
        qputenv("LATHE_CUDA_DRIVER", LATHE_CUDA_DRIVER_ON_CPU);
#endif
}

} // namespace lathe::test
