#pragma once

#include <cstddef>
#include <cstdint>

// What this driver shares with its callers: numbers and shapes of the CUDA driver API, in declarations of our own. The
// numbers are those of its manual.

namespace lathe::cuda_driver {

enum Code : int
{
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kDeviceUnavailable = 46,
    kNoDevice = 100,
    kInvalidDevice = 101,
    kInvalidImage = 200,
    kInvalidContext = 201,
    kNoBinaryForGpu = 209,
    kEccUncorrectable = 214,
    kInvalidPtx = 218,
    kUnsupportedPtxVersion = 222,
    kInvalidHandle = 400,
    kIllegalState = 401,
    kNotFound = 500,
    kNotReady = 600,
    kIllegalAddress = 700,
    kLaunchOutOfResources = 701,
    kLaunchTimeout = 702,
    kContextIsDestroyed = 709,
    kAssert = 710,
    kHostMemoryAlreadyRegistered = 712,
    kHostMemoryNotRegistered = 713,
    kHardwareStackError = 714,
    kIllegalInstruction = 715,
    kMisalignedAddress = 716,
    kInvalidAddressSpace = 717,
    kInvalidPc = 718,
    kLaunchFailed = 719,
    kNotSupported = 801,
    kStreamCaptureUnsupported = 900,
    kStreamCaptureInvalidated = 901,
    kStreamCaptureUnmatched = 903,
    kStreamCaptureUnjoined = 904,
    kStreamCaptureImplicit = 906,
    kCapturedEvent = 907,
    kStreamCaptureWrongThread = 908,
    kUnknown = 999,
};

const char* nameOf(int code); // "CUDA_ERROR_INVALID_VALUE"; null for a number that is none
const char* descriptionOf(int code); // a few words of our own

enum DeviceAttribute : int
{
    kMaxThreadsPerBlock = 1,
    kMaxBlockX = 2,
    kMaxBlockY = 3,
    kMaxBlockZ = 4,
    kMaxGridX = 5,
    kMaxGridY = 6,
    kMaxGridZ = 7,
    kMaxSharedPerBlock = 8,
    kTotalConstantMemory = 9,
    kWarpSize = 10,
    kMaxRegistersPerBlock = 12,
    kClockKhz = 13,
    kMultiprocessors = 16,
    kKernelTimeout = 17,
    kIntegrated = 18,
    kCanMapHostMemory = 19,
    kComputeMode = 20,
    kConcurrentKernels = 31,
    kEccEnabled = 32,
    kPciBusId = 33,
    kPciDeviceId = 34,
    kMemoryClockKhz = 36,
    kMemoryBusBits = 37,
    kL2Bytes = 38,
    kMaxThreadsPerMultiprocessor = 39,
    kAsyncEngines = 40,
    kUnifiedAddressing = 41,
    kPciDomainId = 50,
    kCapabilityMajor = 75,
    kCapabilityMinor = 76,
    kMaxSharedPerMultiprocessor = 81,
    kMaxRegistersPerMultiprocessor = 82,
    kManagedMemory = 83,
    kMaxSharedPerBlockOptin = 97,
    kMaxBlocksPerMultiprocessor = 106,
    kReservedSharedPerBlock = 111,
};

enum FunctionAttribute : int
{
    kFunctionMaxThreads = 0,
    kFunctionShared = 1,
    kFunctionConst = 2,
    kFunctionLocal = 3,
    kFunctionRegisters = 4,
    kFunctionPtxVersion = 5,
    kFunctionBinaryVersion = 6,
    kFunctionCacheModeCa = 7,
    kFunctionMaxDynamicShared = 8,
    kFunctionCarveout = 9,
};

enum JitOption : int
{
    kJitInfoLog = 3,
    kJitInfoLogBytes = 4,
    kJitErrorLog = 5,
    kJitErrorLogBytes = 6,
};

enum CaptureMode : int
{
    kCaptureGlobal = 0,
    kCaptureThreadLocal = 1,
    kCaptureRelaxed = 2,
};

enum CaptureStatus : int
{
    kCaptureNone = 0,
    kCaptureActive = 1,
    kCaptureInvalidated = 2,
};

constexpr unsigned kEventDisableTiming = 2;

struct Uuid
{
    unsigned char bytes[16];
};

} // namespace lathe::cuda_driver

#define LATHE_CUDA_ENTRY extern "C" __attribute__((visibility("default"))) int
