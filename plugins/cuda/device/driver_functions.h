#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include <cstddef>
#include <cstdint>

namespace lathe::cuda {

/// The driver's own numbers, as its manual lists them (CUDA Driver API, CUresult).
enum Code : int
{
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kDeinitialized = 4,
    kNoDevice = 100,
    kInvalidDevice = 101,
    kDeviceUnavailable = 46,
    kStubLibrary = 34, ///< what programs are linked with where there is no driver
    kInvalidImage = 200,
    kNoBinaryForDevice = 209,
    kUncorrectableEcc = 214,
    kInvalidPtx = 218,
    kNvlinkUncorrectable = 220,
    kNoJitCompiler = 221,
    kUnsupportedPtxVersion = 222,
    kContained = 226, ///< an error of the hardware, which stays with the processes that it hit
    kNotFound = 500,
    kIllegalAddress = 700,
    kLaunchOutOfResources = 701,
    kLaunchTimeout = 702,
    kContextIsDestroyed = 709,
    kAssertion = 710,
    kHardwareStackError = 714,
    kIllegalInstruction = 715,
    kMisalignedAddress = 716,
    kInvalidAddressSpace = 717,
    kInvalidProgramCounter = 718,
    kLaunchFailed = 719,
    kTensorMemoryLeak = 721,
    kSystemNotReady = 802,
    kSystemDriverMismatch = 803,
    kMpsConnectionFailed = 805, ///< of the server by which several processes share a device, as those that follow
    kMpsRpcFailure = 806,
    kMpsServerNotReady = 807,
    kMpsMaxClientsReached = 808,
    kMpsMaxConnectionsReached = 809,
    kMpsClientTerminated = 810,
    kCaptureImplicit = 906, ///< the legacy stream, while one that it waits for is captured
    kExternalDevice = 911, ///< one that CUDA waits for has failed
    kUnknown = 999
};

/// What kNoJitCompiler means, which no driver says in words.
inline constexpr const char* kNoJitCompilerText = "the NVIDIA driver's compiler of PTX is not installed "
                                                  "(libnvidia-ptxjitcompiler.so.1)";

/// What functionGetAttribute() and functionSetAttribute() are asked for (CUfunction_attribute).
enum FunctionAttribute : int
{
    kMostThreadsOfFunction = 0,
    kRegistersOfFunction = 4,
    kMostDynamicShared = 8
};

/// What moduleLoad() is told (CUjit_option).
enum LoadOption : int
{
    kErrorLog = 5,
    kErrorLogBytes = 6
};

/// Of a stream: it does not wait for the default stream, nor that for it (CU_STREAM_NON_BLOCKING).
inline constexpr unsigned kOwnOrder = 1;

/// What deviceGetAttribute() is asked for, by the manual's numbers (CUdevice_attribute).
enum Attribute : int
{
    kMostThreadsOfBlock = 1,
    kMostBlockX = 2, ///< Y, Z behind it
    kMostGridX = 5, ///< likewise
    kSharedOfBlock = 8,
    kWarp = 10,
    kRegistersOfBlock = 12,
    kClockKhz = 13,
    kProcessors = 16,
    kHasRunLimit = 17,
    kIsIntegrated = 18, ///< its memory is the processor's
    kMapsHostMemory = 19,
    kMemoryClockKhz = 36,
    kMemoryBusBits = 37,
    kCacheBytes = 38,
    kThreadsOfProcessor = 39,
    kCapabilityMajor = 75,
    kCapabilityMinor = 76,
    kSharedOfProcessor = 81,
    kRegistersOfProcessor = 82,
    kSharedOfBlockAtMost = 97, ///< if a function asks for it
    kBlocksOfProcessor = 106
};

/// Of captures, by the manual's numbers (CUstreamCaptureMode, CUstreamCaptureStatus).
enum CaptureMode : int
{
    /// What could disturb a capture, allocating for instance, is forbidden to the thread that captures, and to no
    /// other: what the caller's threads do is their own affair.
    kCaptureOfThread = 1,
    kCaptureRelaxed = 2 ///< of a thread: it may do such things whatever others capture
};
enum CaptureStatus : int
{
    kIsNotCaptured = 0
};

using DeviceNumber = int;
using Address = unsigned long long; ///< in the device's memory
using Context = struct OpaqueContext*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using LoadedModule = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Graph = struct OpaqueGraph*;
using GraphExec = struct OpaqueGraphExec*;
struct Uuid
{
    unsigned char bytes[16];
};

/// The driver's functions that are used here, in declarations of our own, opened at run time: programs start without
/// it. Each returns a Code. Names end as those do that all drivers since CUDA 11 have.
struct Driver
{
    int (*init)(unsigned flags) = nullptr;
    int (*driverGetVersion)(int* version) = nullptr;
    int (*deviceGetCount)(int* count) = nullptr;
    int (*deviceGet)(DeviceNumber* device, int ordinal) = nullptr;
    int (*deviceGetName)(char* name, int bytes, DeviceNumber device) = nullptr;
    int (*deviceGetUuid)(Uuid* uuid, DeviceNumber device) = nullptr;
    int (*deviceTotalMem)(std::size_t* bytes, DeviceNumber device) = nullptr;
    int (*deviceGetAttribute)(int* value, int attribute, DeviceNumber device) = nullptr;
    int (*primaryContextRetain)(Context* context, DeviceNumber device) = nullptr;
    int (*primaryContextRelease)(DeviceNumber device) = nullptr;
    int (*contextSetCurrent)(Context context) = nullptr; ///< of this thread; null: none
    int (*contextGetCurrent)(Context* context) = nullptr;
    int (*contextGetDevice)(DeviceNumber* device) = nullptr; ///< of the current one
    int (*memAlloc)(Address* address, std::size_t bytes) = nullptr;
    int (*memFree)(Address address) = nullptr;
    int (*memHostAlloc)(void** host, std::size_t bytes, unsigned flags) = nullptr; ///< locked in place
    int (*memFreeHost)(void* host) = nullptr;
    int (*pointerGetAttribute)(void* value, int attribute, Address address) = nullptr;
    int (*copyToDevice)(Address to, const void* from, std::size_t bytes, Stream stream) = nullptr;
    int (*copyToHost)(void* to, Address from, std::size_t bytes, Stream stream) = nullptr;
    int (*copyOnDevice)(Address to, Address from, std::size_t bytes, Stream stream) = nullptr;
    int (*fill)(Address to, unsigned word, std::size_t words, Stream stream) = nullptr;
    int (*moduleLoad)(LoadedModule* module, const void* image, unsigned count, int* options, void** values) = nullptr;
    int (*moduleUnload)(LoadedModule module) = nullptr;
    int (*moduleGetFunction)(Function* function, LoadedModule module, const char* name) = nullptr;
    int (*functionGetAttribute)(int* value, int attribute, Function function) = nullptr;
    int (*functionSetAttribute)(Function function, int attribute, int value) = nullptr;
    int (*launch)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                  unsigned blockZ, unsigned sharedBytes, Stream stream, void** parameters, void** extra) = nullptr;
    int (*streamCreate)(Stream* stream, unsigned flags) = nullptr;
    int (*streamDestroy)(Stream stream) = nullptr;
    int (*streamSynchronize)(Stream stream) = nullptr;
    int (*eventCreate)(Event* event, unsigned flags) = nullptr;
    int (*eventDestroy)(Event event) = nullptr;
    int (*eventRecord)(Event event, Stream stream) = nullptr;
    int (*eventElapsedTime)(float* milliseconds, Event start, Event end) = nullptr;
    // Where one of these is missing there are no graphs.
    int (*beginCapture)(Stream stream, int mode) = nullptr;
    int (*endCapture)(Stream stream, Graph* graph) = nullptr;
    int (*graphInstantiate)(GraphExec* exec, Graph graph, unsigned long long flags) = nullptr;
    int (*graphLaunch)(GraphExec exec, Stream stream) = nullptr;
    int (*graphExecDestroy)(GraphExec exec) = nullptr;
    int (*graphDestroy)(Graph graph) = nullptr;
    // Optional.
    int (*graphUpload)(GraphExec exec, Stream stream) = nullptr; ///< what its first start would have to do before
    int (*memHostGetDevicePointer)(Address* address, void* host, unsigned flags) = nullptr;
    int (*streamGetContext)(Stream stream, Context* context) = nullptr;
    int (*streamIsCapturing)(Stream stream, int* status) = nullptr;
    int (*exchangeCaptureMode)(int* mode) = nullptr; ///< of this thread: gives the one before
    int (*getErrorName)(int code, const char** name) = nullptr;
    int (*getErrorString)(int code, const char** text) = nullptr;

    int version = 0; ///< of CUDA that it supports at most, 1000 times the major number and 10 times the minor one
    bool isOnProcessor = false; ///< it is no GPU's: kernels run on this machine's cores, its times are of a model
    bool hasGraphs = false;
};

/// Of this process, opened once and never closed: libcuda.so.1, or the file that LATHE_CUDA_DRIVER names. Null:
/// `problem` is a sentence that stays; so in a process that was forked off one that has it open. Any thread.
const Driver* openDriver(const char*& problem);

/// For people, cut.
struct ErrorName
{
    char text[256];
};
/// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)", as far as the driver tells.
ErrorName errorName(const Driver& driver, int code);

struct VersionText
{
    char text[32];
};
VersionText versionName(int version); ///< "13.0"

} // namespace lathe::cuda
