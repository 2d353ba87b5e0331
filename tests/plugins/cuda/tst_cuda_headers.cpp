#include "plugins/cuda/device/driver_functions.h"
#include "plugins/cuda/device/management_functions.h"
#include "tests/cuda_driver/driver/cuda_api.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstddef>
#include <type_traits>

// NVIDIA's own headers, where they are: nothing else of Lathe includes them. The define shows those of the driver's
// functions that newer headers have under a newer name.
#if __has_include(<cuda.h>)
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#define LATHE_HAS_CUDA_H 1
#endif
#if __has_include(<nvml.h>)
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#define LATHE_HAS_NVML_H 1
#endif

namespace tst_cuda_headers {

namespace {

/// Whether a value of the one type is passed as one of the other is: the same kind of number, or pointers to what is
/// laid out alike. What is only pointed to is paired by name, below.
template<typename Ours, typename Theirs>
struct Alike
{
    static constexpr bool kAreNumbers = (std::is_integral_v<Ours> || std::is_enum_v<Ours>)&&(
        std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);
    /// The headers' enumerations are ints here.
    static constexpr bool kIsSigned = std::is_signed_v<Ours> == std::is_signed_v<Theirs> || std::is_enum_v<Theirs>;
    static constexpr bool value = []() {
        if constexpr (std::is_same_v<Ours, Theirs>)
            return true;
        else if constexpr (kAreNumbers)
            return sizeof(Ours) == sizeof(Theirs) && kIsSigned;
        else
            return false;
    }();
};
template<typename Ours, typename Theirs>
struct Alike<Ours*, Theirs*>
{
    static constexpr bool value =
        std::is_const_v<
            Ours> == std::is_const_v<Theirs> && Alike<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>::value;
};
template<typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct Alike<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
{
    static constexpr bool value = []() {
        if constexpr (sizeof...(Ours) == sizeof...(Theirs))
            return Alike<OurResult, TheirResult>::value && (Alike<Ours, Theirs>::value && ...);
        else
            return false;
    }();
};

#if LATHE_HAS_CUDA_H
using namespace lathe;

template<>
struct Alike<cuda::OpaqueContext, CUctx_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueStream, CUstream_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueEvent, CUevent_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueModule, CUmod_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueFunction, CUfunc_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueGraph, CUgraph_st> : std::true_type
{
};
template<>
struct Alike<cuda::OpaqueGraphExec, CUgraphExec_st> : std::true_type
{
};
template<>
struct Alike<cuda::Uuid, CUuuid> : std::bool_constant<sizeof(cuda::Uuid) == sizeof(CUuuid)>
{
};

// ---- functions

/// The members of Driver that the list below has: all of them.
constexpr std::size_t kFunctions = 48;
static_assert(offsetof(cuda::Driver, version) == kFunctions * sizeof(void*), "a function is not in the list");

#define LATHE_IS(member, name) static_assert(Alike<decltype(cuda::Driver::member), decltype(&::name)>::value, #name);
#undef cuEventElapsedTime // the name that all drivers have
LATHE_IS(init, cuInit)
LATHE_IS(driverGetVersion, cuDriverGetVersion)
LATHE_IS(deviceGetCount, cuDeviceGetCount)
LATHE_IS(deviceGet, cuDeviceGet)
LATHE_IS(deviceGetName, cuDeviceGetName)
LATHE_IS(deviceGetUuid, cuDeviceGetUuid_v2)
LATHE_IS(deviceGetUuid, cuDeviceGetUuid)
LATHE_IS(deviceTotalMem, cuDeviceTotalMem_v2)
LATHE_IS(deviceGetAttribute, cuDeviceGetAttribute)
LATHE_IS(primaryContextRetain, cuDevicePrimaryCtxRetain)
LATHE_IS(primaryContextRelease, cuDevicePrimaryCtxRelease_v2)
LATHE_IS(contextSetCurrent, cuCtxSetCurrent)
LATHE_IS(contextGetCurrent, cuCtxGetCurrent)
LATHE_IS(contextGetDevice, cuCtxGetDevice)
LATHE_IS(memAlloc, cuMemAlloc_v2)
LATHE_IS(memFree, cuMemFree_v2)
LATHE_IS(memHostAlloc, cuMemHostAlloc)
LATHE_IS(memFreeHost, cuMemFreeHost)
LATHE_IS(pointerGetAttribute, cuPointerGetAttribute)
LATHE_IS(copyToDevice, cuMemcpyHtoDAsync_v2)
LATHE_IS(copyToHost, cuMemcpyDtoHAsync_v2)
LATHE_IS(copyOnDevice, cuMemcpyDtoDAsync_v2)
LATHE_IS(fill, cuMemsetD32Async)
LATHE_IS(moduleLoad, cuModuleLoadDataEx)
LATHE_IS(moduleUnload, cuModuleUnload)
LATHE_IS(moduleGetFunction, cuModuleGetFunction)
LATHE_IS(functionGetAttribute, cuFuncGetAttribute)
LATHE_IS(functionSetAttribute, cuFuncSetAttribute)
LATHE_IS(launch, cuLaunchKernel)
LATHE_IS(streamCreate, cuStreamCreate)
LATHE_IS(streamDestroy, cuStreamDestroy_v2)
LATHE_IS(streamSynchronize, cuStreamSynchronize)
LATHE_IS(eventCreate, cuEventCreate)
LATHE_IS(eventDestroy, cuEventDestroy_v2)
LATHE_IS(eventRecord, cuEventRecord)
LATHE_IS(eventElapsedTime, cuEventElapsedTime)
LATHE_IS(beginCapture, cuStreamBeginCapture_v2)
LATHE_IS(endCapture, cuStreamEndCapture)
LATHE_IS(graphInstantiate, cuGraphInstantiateWithFlags)
LATHE_IS(graphLaunch, cuGraphLaunch)
LATHE_IS(graphExecDestroy, cuGraphExecDestroy)
LATHE_IS(graphDestroy, cuGraphDestroy)
LATHE_IS(graphUpload, cuGraphUpload)
LATHE_IS(memHostGetDevicePointer, cuMemHostGetDevicePointer_v2)
LATHE_IS(streamGetContext, cuStreamGetCtx)
LATHE_IS(streamIsCapturing, cuStreamIsCapturing)
LATHE_IS(exchangeCaptureMode, cuThreadExchangeStreamCaptureMode)
LATHE_IS(getErrorName, cuGetErrorName)
LATHE_IS(getErrorString, cuGetErrorString)
#undef LATHE_IS

// ---- numbers

#define LATHE_IS(ours, theirs) static_assert(int(ours) == int(::theirs), #theirs);
#define LATHE_IS_CODE(ours, theirs) LATHE_IS(cuda::ours, CUDA_##theirs)
LATHE_IS_CODE(kSuccess, SUCCESS)
LATHE_IS_CODE(kInvalidValue, ERROR_INVALID_VALUE)
LATHE_IS_CODE(kOutOfMemory, ERROR_OUT_OF_MEMORY)
LATHE_IS_CODE(kNotInitialized, ERROR_NOT_INITIALIZED)
LATHE_IS_CODE(kDeinitialized, ERROR_DEINITIALIZED)
LATHE_IS_CODE(kNoDevice, ERROR_NO_DEVICE)
LATHE_IS_CODE(kInvalidDevice, ERROR_INVALID_DEVICE)
LATHE_IS_CODE(kDeviceUnavailable, ERROR_DEVICE_UNAVAILABLE)
LATHE_IS_CODE(kStubLibrary, ERROR_STUB_LIBRARY)
LATHE_IS_CODE(kInvalidImage, ERROR_INVALID_IMAGE)
LATHE_IS_CODE(kNoBinaryForDevice, ERROR_NO_BINARY_FOR_GPU)
LATHE_IS_CODE(kUncorrectableEcc, ERROR_ECC_UNCORRECTABLE)
LATHE_IS_CODE(kInvalidPtx, ERROR_INVALID_PTX)
LATHE_IS_CODE(kNvlinkUncorrectable, ERROR_NVLINK_UNCORRECTABLE)
LATHE_IS_CODE(kNoJitCompiler, ERROR_JIT_COMPILER_NOT_FOUND)
LATHE_IS_CODE(kUnsupportedPtxVersion, ERROR_UNSUPPORTED_PTX_VERSION)
#if CUDA_VERSION >= 12090
LATHE_IS_CODE(kContained, ERROR_CONTAINED)
#endif
LATHE_IS_CODE(kNotFound, ERROR_NOT_FOUND)
LATHE_IS_CODE(kIllegalAddress, ERROR_ILLEGAL_ADDRESS)
LATHE_IS_CODE(kLaunchOutOfResources, ERROR_LAUNCH_OUT_OF_RESOURCES)
LATHE_IS_CODE(kLaunchTimeout, ERROR_LAUNCH_TIMEOUT)
LATHE_IS_CODE(kContextIsDestroyed, ERROR_CONTEXT_IS_DESTROYED)
LATHE_IS_CODE(kAssertion, ERROR_ASSERT)
LATHE_IS_CODE(kHardwareStackError, ERROR_HARDWARE_STACK_ERROR)
LATHE_IS_CODE(kIllegalInstruction, ERROR_ILLEGAL_INSTRUCTION)
LATHE_IS_CODE(kMisalignedAddress, ERROR_MISALIGNED_ADDRESS)
LATHE_IS_CODE(kInvalidAddressSpace, ERROR_INVALID_ADDRESS_SPACE)
LATHE_IS_CODE(kInvalidProgramCounter, ERROR_INVALID_PC)
LATHE_IS_CODE(kLaunchFailed, ERROR_LAUNCH_FAILED)
#if CUDA_VERSION >= 13000
LATHE_IS_CODE(kTensorMemoryLeak, ERROR_TENSOR_MEMORY_LEAK)
#endif
LATHE_IS_CODE(kExternalDevice, ERROR_EXTERNAL_DEVICE)
LATHE_IS_CODE(kSystemNotReady, ERROR_SYSTEM_NOT_READY)
LATHE_IS_CODE(kSystemDriverMismatch, ERROR_SYSTEM_DRIVER_MISMATCH)
LATHE_IS_CODE(kMpsConnectionFailed, ERROR_MPS_CONNECTION_FAILED)
LATHE_IS_CODE(kMpsRpcFailure, ERROR_MPS_RPC_FAILURE)
LATHE_IS_CODE(kMpsServerNotReady, ERROR_MPS_SERVER_NOT_READY)
LATHE_IS_CODE(kMpsMaxClientsReached, ERROR_MPS_MAX_CLIENTS_REACHED)
LATHE_IS_CODE(kMpsMaxConnectionsReached, ERROR_MPS_MAX_CONNECTIONS_REACHED)
LATHE_IS_CODE(kMpsClientTerminated, ERROR_MPS_CLIENT_TERMINATED)
LATHE_IS_CODE(kCaptureImplicit, ERROR_STREAM_CAPTURE_IMPLICIT)
LATHE_IS_CODE(kUnknown, ERROR_UNKNOWN)
#undef LATHE_IS_CODE
LATHE_IS(cuda::kCaptureOfThread, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
LATHE_IS(cuda::kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED)
LATHE_IS(cuda::kIsNotCaptured, CU_STREAM_CAPTURE_STATUS_NONE)
LATHE_IS(cuda::kMostThreadsOfFunction, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
LATHE_IS(cuda::kRegistersOfFunction, CU_FUNC_ATTRIBUTE_NUM_REGS)
LATHE_IS(cuda::kMostDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
LATHE_IS(cuda::kErrorLog, CU_JIT_ERROR_LOG_BUFFER)
LATHE_IS(cuda::kErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
LATHE_IS(static_cast<int>(cuda::kOwnOrder), CU_STREAM_NON_BLOCKING)

#define LATHE_IS_ATTRIBUTE(ours, theirs) LATHE_IS(cuda::ours, CU_DEVICE_ATTRIBUTE_##theirs)
LATHE_IS_ATTRIBUTE(kMostThreadsOfBlock, MAX_THREADS_PER_BLOCK)
LATHE_IS_ATTRIBUTE(kMostBlockX, MAX_BLOCK_DIM_X)
LATHE_IS_ATTRIBUTE(kMostBlockX + 1, MAX_BLOCK_DIM_Y)
LATHE_IS_ATTRIBUTE(kMostBlockX + 2, MAX_BLOCK_DIM_Z)
LATHE_IS_ATTRIBUTE(kMostGridX, MAX_GRID_DIM_X)
LATHE_IS_ATTRIBUTE(kMostGridX + 1, MAX_GRID_DIM_Y)
LATHE_IS_ATTRIBUTE(kMostGridX + 2, MAX_GRID_DIM_Z)
LATHE_IS_ATTRIBUTE(kSharedOfBlock, MAX_SHARED_MEMORY_PER_BLOCK)
LATHE_IS_ATTRIBUTE(kWarp, WARP_SIZE)
LATHE_IS_ATTRIBUTE(kRegistersOfBlock, MAX_REGISTERS_PER_BLOCK)
LATHE_IS_ATTRIBUTE(kClockKhz, CLOCK_RATE)
LATHE_IS_ATTRIBUTE(kProcessors, MULTIPROCESSOR_COUNT)
LATHE_IS_ATTRIBUTE(kHasRunLimit, KERNEL_EXEC_TIMEOUT)
LATHE_IS_ATTRIBUTE(kIsIntegrated, INTEGRATED)
LATHE_IS_ATTRIBUTE(kMapsHostMemory, CAN_MAP_HOST_MEMORY)
LATHE_IS_ATTRIBUTE(kMemoryClockKhz, MEMORY_CLOCK_RATE)
LATHE_IS_ATTRIBUTE(kMemoryBusBits, GLOBAL_MEMORY_BUS_WIDTH)
LATHE_IS_ATTRIBUTE(kCacheBytes, L2_CACHE_SIZE)
LATHE_IS_ATTRIBUTE(kThreadsOfProcessor, MAX_THREADS_PER_MULTIPROCESSOR)
LATHE_IS_ATTRIBUTE(kCapabilityMajor, COMPUTE_CAPABILITY_MAJOR)
LATHE_IS_ATTRIBUTE(kCapabilityMinor, COMPUTE_CAPABILITY_MINOR)
LATHE_IS_ATTRIBUTE(kSharedOfProcessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
LATHE_IS_ATTRIBUTE(kRegistersOfProcessor, MAX_REGISTERS_PER_MULTIPROCESSOR)
LATHE_IS_ATTRIBUTE(kSharedOfBlockAtMost, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
LATHE_IS_ATTRIBUTE(kBlocksOfProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)
#undef LATHE_IS_ATTRIBUTE

// Of the driver on the processor: what the list above does not have.
#define LATHE_IS_TESTS(ours, theirs) LATHE_IS(cuda_driver::ours, theirs)
LATHE_IS_TESTS(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT)
LATHE_IS_TESTS(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE)
LATHE_IS_TESTS(kIllegalState, CUDA_ERROR_ILLEGAL_STATE)
LATHE_IS_TESTS(kNotReady, CUDA_ERROR_NOT_READY)
LATHE_IS_TESTS(kHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
LATHE_IS_TESTS(kHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
LATHE_IS_TESTS(kNotSupported, CUDA_ERROR_NOT_SUPPORTED)
LATHE_IS_TESTS(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
LATHE_IS_TESTS(kStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
LATHE_IS_TESTS(kStreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
LATHE_IS_TESTS(kStreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
LATHE_IS_TESTS(kStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
LATHE_IS_TESTS(kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT)
LATHE_IS_TESTS(kStreamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
LATHE_IS_TESTS(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE)
LATHE_IS_TESTS(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT)
LATHE_IS_TESTS(kAssert, CUDA_ERROR_ASSERT)
LATHE_IS_TESTS(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED)
LATHE_IS_TESTS(kTotalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)
LATHE_IS_TESTS(kComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
LATHE_IS_TESTS(kConcurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS)
LATHE_IS_TESTS(kEccEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED)
LATHE_IS_TESTS(kPciBusId, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
LATHE_IS_TESTS(kPciDeviceId, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
LATHE_IS_TESTS(kAsyncEngines, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)
LATHE_IS_TESTS(kUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)
LATHE_IS_TESTS(kPciDomainId, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)
LATHE_IS_TESTS(kManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
LATHE_IS_TESTS(kReservedSharedPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)
LATHE_IS_TESTS(kFunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
LATHE_IS_TESTS(kFunctionShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
LATHE_IS_TESTS(kFunctionConst, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
LATHE_IS_TESTS(kFunctionLocal, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
LATHE_IS_TESTS(kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS)
LATHE_IS_TESTS(kFunctionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION)
LATHE_IS_TESTS(kFunctionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION)
LATHE_IS_TESTS(kFunctionCacheModeCa, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA)
LATHE_IS_TESTS(kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
LATHE_IS_TESTS(kFunctionCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
LATHE_IS_TESTS(kJitInfoLog, CU_JIT_INFO_LOG_BUFFER)
LATHE_IS_TESTS(kJitInfoLogBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
LATHE_IS_TESTS(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER)
LATHE_IS_TESTS(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
LATHE_IS_TESTS(kCaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL)
LATHE_IS_TESTS(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
LATHE_IS_TESTS(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED)
LATHE_IS_TESTS(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE)
LATHE_IS_TESTS(kCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE)
LATHE_IS_TESTS(kCaptureInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED)
LATHE_IS_TESTS(kEventDisableTiming, CU_EVENT_DISABLE_TIMING)
#undef LATHE_IS_TESTS
#undef LATHE_IS
#endif

#if LATHE_HAS_NVML_H
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // older libraries have no other functions for it

template<>
struct Alike<lathe::cuda::OpaqueManagedDevice, nvmlDevice_st> : std::true_type
{
};
template<>
struct Alike<lathe::cuda::OpaqueManagedEvents, nvmlEventSet_st> : std::true_type
{
};
template<>
struct Alike<lathe::cuda::ManagedEvent, nvmlEventData_t>
    : std::bool_constant<sizeof(lathe::cuda::ManagedEvent) == sizeof(nvmlEventData_t)
                         && offsetof(lathe::cuda::ManagedEvent, type) == offsetof(nvmlEventData_t, eventType)
                         && offsetof(lathe::cuda::ManagedEvent, number) == offsetof(nvmlEventData_t, eventData)>
{
};

#define LATHE_IS(member, name)                                                                                         \
    static_assert(Alike<decltype(lathe::cuda::ManagementFunctions::member), decltype(&::name)>::value, #name);
LATHE_IS(init, nvmlInit_v2)
LATHE_IS(deviceByUuid, nvmlDeviceGetHandleByUUID)
LATHE_IS(clock, nvmlDeviceGetClockInfo)
LATHE_IS(temperature, nvmlDeviceGetTemperature)
LATHE_IS(power, nvmlDeviceGetPowerUsage)
LATHE_IS(slowedBy, nvmlDeviceGetCurrentClocksThrottleReasons)
LATHE_IS(memoryErrors, nvmlDeviceGetTotalEccErrors)
LATHE_IS(remappedRows, nvmlDeviceGetRemappedRows)
LATHE_IS(eventSetCreate, nvmlEventSetCreate)
LATHE_IS(eventSetFree, nvmlEventSetFree)
LATHE_IS(registerEvents, nvmlDeviceRegisterEvents)
LATHE_IS(eventSetWait, nvmlEventSetWait_v2)
#undef LATHE_IS

static_assert(lathe::cuda::kClockOfProcessors == int(NVML_CLOCK_SM));
static_assert(lathe::cuda::kClockOfMemory == int(NVML_CLOCK_MEM));
static_assert(lathe::cuda::kTemperatureOfGpu == int(NVML_TEMPERATURE_GPU));
static_assert(lathe::cuda::kUncorrected == int(NVML_MEMORY_ERROR_TYPE_UNCORRECTED));
static_assert(lathe::cuda::kSinceStart == int(NVML_VOLATILE_ECC));
static_assert(lathe::cuda::kXidEvent == nvmlEventTypeXidCriticalError);
static_assert(lathe::cuda::kIdle == nvmlClocksThrottleReasonGpuIdle);
#endif

} // namespace

/// Our own declarations of the driver's interface against NVIDIA's headers: the compiler has compared them when this
/// runs. Where the headers are not, it says so.
class TestCudaHeaders : public QObject
{
    Q_OBJECT

private slots:
    void declarationsAreThoseOfTheDriver()
    {
#if !LATHE_HAS_CUDA_H
        QSKIP("cuda.h is not installed (pip install nvidia-cuda-runtime): declarations were not compared with it");
#endif
    }

    void declarationsAreThoseOfTheManagementLibrary()
    {
#if !LATHE_HAS_NVML_H
        QSKIP("nvml.h is not installed (pip install nvidia-nvml-dev): declarations were not compared with it");
#endif
    }
};

LATHE_TEST(TestCudaHeaders)

} // namespace tst_cuda_headers

#include "tst_cuda_headers.moc"
