#include "plugins/cuda/device/errors.h"

namespace lathe::cuda {

LatheErrc kindOf(int code)
{
    switch (code) {
    case kOutOfMemory:
    case kLaunchOutOfResources: return LATHE_ERRC_UNSUPPORTED;
    case kIllegalAddress:
    case kAssertion:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidProgramCounter:
    case kTensorMemoryLeak:
    case kLaunchFailed: return LATHE_ERRC_WORKER_CRASHED;
    case kLaunchTimeout: return LATHE_ERRC_RUN_TIMEOUT;
    case kDeinitialized:
    case kNoDevice:
    case kInvalidDevice:
    case kDeviceUnavailable:
    case kUncorrectableEcc:
    case kNvlinkUncorrectable:
    case kContained:
    case kContextIsDestroyed:
    case kSystemNotReady:
    case kMpsConnectionFailed:
    case kMpsRpcFailure:
    case kMpsServerNotReady:
    case kMpsMaxClientsReached:
    case kMpsMaxConnectionsReached:
    case kMpsClientTerminated:
    case kExternalDevice:
    case kUnknown: return LATHE_ERRC_DEVICE_LOST;
    default: return LATHE_ERRC_INTERNAL;
    }
}

bool isLasting(int code)
{
    const LatheErrc kind = kindOf(code);
    return kind == LATHE_ERRC_WORKER_CRASHED || kind == LATHE_ERRC_RUN_TIMEOUT || kind == LATHE_ERRC_DEVICE_LOST;
}

int refused(LatheDeviceError* error, const Driver& driver, int code, std::string_view doing)
{
    return fail(error, kindOf(code), "CUDA refuses " + std::string(doing) + ": " + errorText(driver, code));
}

int failedAt(LatheDeviceError* error, const Driver& driver, int code, std::string_view doing)
{
    return fail(error, kindOf(code), "CUDA failed at " + std::string(doing) + ": " + errorText(driver, code));
}

} // namespace lathe::cuda
