#pragma once

namespace lathe::test {

/// What the management library of the tests tells of its only device.
struct FakeManagement
{
    const char* uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
    bool tellsFigures = true; ///< of a MIG instance clocks and the like are not told
    unsigned long long uncorrectedErrors = 0;
    bool tellsErrors = true; ///< false: that call fails
    unsigned long long xid = 0; ///< of the next message; 0: there is none
    unsigned rowsFailed = 0;
};

/// The library's own function "fakeManagement".
using FakeManagementFn = FakeManagement* (*)();

} // namespace lathe::test
