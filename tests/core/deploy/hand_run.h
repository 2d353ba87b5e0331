#pragma once

/// Runs what was planned of the network of hand_network.h in this process.

#include "core/deploy/plan.h"
#include "core/graph/passes.h"
#include "core/runtime/executor.h"
#include "core/wire/seeded.h"

#include <QStringList>

#include <cstring>
#include <span>
#include <vector>

inline lathe::graph::HostTensor someInput()
{
    lathe::graph::HostTensor x = lathe::graph::HostTensor::zeros({lathe::DType::F32, {1, 20, 4, 4}});
    lathe::wire::fillSeeded(5, lathe::DType::F32, {}, x.bytes);
    return x;
}

/// Its output with someInput(), of the last of three runs; empty: it did not run.
/// @param driver  of the device beside the processor; null: there is none
inline std::vector<float> runImage(const lathe::deploy::ModelImage& image, std::span<const LathePhase> phases,
                                   const lathe::runtime::DeviceDriver* driver = nullptr)
{
    using namespace lathe::runtime;
    std::vector<std::uint64_t> description(image.description.size() / 8 + 1);
    std::memcpy(description.data(), image.description.data(), image.description.size());
    ModelSource source{reinterpret_cast<const std::byte*>(description.data()),
                       image.description.size(),
                       image.weights.data(),
                       image.weights.size(),
                       phases.data(),
                       phases.size()};
    source.drivers = &driver;
    source.driverCount = driver != nullptr ? 1 : 0;
    Model model;
    ErrorText error;
    if (model.open(source, true, error) != Status::Ok)
        return {};
    Status status{};
    Executor* const executor = Executor::create(model, {{3, false, 50}, nullptr, nullptr}, status, error);
    std::vector<float> result;
    if (executor != nullptr) {
        const lathe::graph::HostTensor input = someInput();
        std::memcpy(executor->inputBuffer(0), input.bytes.data(), input.bytes.size());
        for (int round = 0; round < 3; ++round) // buffers are reused: later runs must not see earlier ones
            if (executor->run() == Status::Ok) {
                const auto* const y = static_cast<const float*>(executor->outputBuffer(0));
                result.assign(y, y + 320);
            }
    }
    Executor::destroy(executor);
    return result;
}

/// "kernel scale", "copy read y": the instructions, in order.
inline QStringList kindsOf(const lathe::deploy::ModelImage& image)
{
    QStringList kinds;
    for (const lathe::deploy::InstructionReport& instruction : image.instructions)
        kinds << QString::fromStdString(instruction.kind + " " + instruction.name);
    return kinds;
}
