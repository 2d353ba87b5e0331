#include "tests/plugins/cuda/fake_management.h"

#include <cstring>

/// A management library whose only device is what a test says: the functions by which plugins/cuda asks one.

namespace {

lathe::test::FakeManagement g_state;

struct EventData
{
    void* device;
    unsigned long long type, number;
    unsigned instances[2];
};

constexpr int kNotSupported = 3, kNotFound = 6, kTimeout = 10; // as NVML numbers them

int tell(unsigned* to, unsigned value)
{
    if (!g_state.tellsFigures)
        return kNotSupported;
    *to = value;
    return 0;
}

} // namespace

extern "C" {

lathe::test::FakeManagement* fakeManagement()
{
    return &g_state;
}

int nvmlInit_v2()
{
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device)
{
    if (std::strcmp(uuid, g_state.uuid) != 0)
        return kNotFound;
    *device = &g_state;
    return 0;
}

int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz)
{
    return tell(mhz, which == 1 ? 1410 : which == 2 ? 1593 : 0);
}

int nvmlDeviceGetTemperature(void*, int, unsigned* degrees)
{
    return tell(degrees, 61);
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts)
{
    return tell(milliwatts, 212500);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons)
{
    unsigned told = 0;
    const int code = tell(&told, 5); // nothing runs, and power is short
    if (code == 0)
        *reasons = told;
    return code;
}

int nvmlDeviceGetTotalEccErrors(void*, int kind, int counter, unsigned long long* count)
{
    *count = kind == 1 && counter == 0 ? g_state.uncorrectedErrors : 1000; // corrected ones are of no account
    return g_state.tellsErrors ? 0 : 999;
}

int nvmlDeviceGetRemappedRows(void*, unsigned* corrected, unsigned* uncorrected, unsigned* pending, unsigned* failed)
{
    *corrected = *uncorrected = *pending = 3;
    *failed = g_state.rowsFailed;
    return 0;
}

int nvmlEventSetCreate(void** set)
{
    *set = &g_state;
    return 0;
}

int nvmlEventSetFree(void*)
{
    return 0;
}

int nvmlDeviceRegisterEvents(void*, unsigned long long, void*)
{
    return 0;
}

int nvmlEventSetWait_v2(void*, EventData* data, unsigned)
{
    if (g_state.xid == 0)
        return kTimeout;
    *data = {&g_state, 8, g_state.xid, {0, 0}};
    g_state.xid = 0;
    return 0;
}

} // extern "C"
