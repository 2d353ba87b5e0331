#pragma once

#include "core/runtime/package.h"
#include "core/serve/device.h"
#include "tests/net/findings.h"
#include "tests/net/kernel_run.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lathe::net {

/// What the tests of every operator on a device differ in.
struct DeviceOperators
{
    /// A device for each thread at least. Any thread.
    std::function<Result<std::shared_ptr<serve::Device>>()> open;
    /// A kernel as the device takes it, the symbols of its launches in `info`. Any thread.
    std::function<Result<serve::DeviceModule>(serve::Device& device, const schedule::LoweredKernel& kernel,
                                              KernelInfo& info)>
        load;
    /// Parts of the sentences that refuse a type that the language or the device does not have. Any other is wrong.
    std::vector<std::string> lackingTypes;
    /// In so many types the first case of an operator is run, unless every case is asked for: float32, and others that
    /// differ from operator to operator. 0: in all.
    std::size_t mostTypes = 0;
    Target target; ///< whose passes prepare an operator that has no kernel of its own
};

/// Whether every case of each operator is asked for, by hand: LATHE_TEST_EVERY_CASE=1, which takes many minutes. Else
/// the first one in each type is run.
bool isEveryCaseAsked();

/// An operator's cases on a device by default schedules, on hostile values, against the reference executor.
Findings findingsOnDevice(const graph::OpDef& entry, const DeviceOperators& on);

/// What was run, and what was refused for which types, in one line.
std::string summary(const std::vector<Findings>& findings);

} // namespace lathe::net
