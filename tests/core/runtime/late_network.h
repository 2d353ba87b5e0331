#pragma once

#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/support/late_device.h"

#include <cstring>
#include <memory>
#include <vector>

namespace lathe::test {

/// A small network of which a device beside the processor runs a part; the device does everything as late as it may.

using namespace lathe::runtime;
using deploy::ImageWriter;

inline constexpr std::int64_t kCells = 24;
inline constexpr std::size_t kBytes = kCells * sizeof(float);

inline IndexMap plain(std::vector<std::int64_t> shape)
{
    return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

inline float* floats(std::byte* bytes)
{
    return reinterpret_cast<float*>(bytes);
}

/// y = x reversed, on the processor.
inline std::int32_t reverse(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    const auto* const x = static_cast<const float*>(args->tensors[0]);
    for (std::int64_t i = 0; part == 0 && i < kCells; ++i)
        static_cast<float*>(args->tensors[1])[i] = x[kCells - 1 - i];
    return 0;
}

struct Network
{
    std::vector<std::uint64_t> description;
    std::size_t descriptionBytes = 0;
    alignas(64) float weights[32] = {};
    std::vector<LathePhase> phases = {reverse};
    const DeviceDriver* drivers[1] = {&late::driver()};
    alignas(8) char code[8] = "CODE";

    ModelSource source() const
    {
        ModelSource s{reinterpret_cast<const std::byte*>(description.data()),
                      descriptionBytes,
                      reinterpret_cast<const std::byte*>(weights),
                      sizeof weights,
                      phases.data(),
                      phases.size()};
        s.drivers = drivers;
        s.driverCount = 1;
        s.code = reinterpret_cast<const std::byte*>(code);
        s.codeBytes = 4;
        return s;
    }
};

/// m = x * w in two launches, through scratch; n = m reversed on the processor; y = n + w; z = m. All but the reversal
/// on the device.
inline Network makeNetwork()
{
    Network network;
    for (std::int64_t i = 0; i < kCells; ++i)
        network.weights[i] = static_cast<float>(i) - 3.5F;
    late::device() = {};
    late::device().functions["scale_0"] = [](const std::vector<std::byte*>& b, const LaunchRequest& request) {
        for (std::int64_t i = 0; i < kCells; ++i) // x, w, scratch
            floats(b[2])[i] = floats(b[0])[i] * floats(b[1])[i];
        return request.grid[0] == 3 && request.block[1] == 8;
    };
    late::device().functions["scale_1"] = [](const std::vector<std::byte*>& b, const LaunchRequest&) {
        std::memcpy(b[1], b[0], kCells * sizeof(float)); // scratch, m
        return true;
    };
    late::device().functions["add_0"] = [](const std::vector<std::byte*>& b, const LaunchRequest&) {
        for (std::int64_t i = 0; i < kCells; ++i)
            floats(b[2])[i] = floats(b[0])[i] + floats(b[1])[i];
        return true;
    };
    ImageWriter writer("beside");
    const std::uint32_t device = writer.addDevice("late -fast", 2048, 512);
    const IndexMap map = plain({kCells});
    const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, map});
    const auto dx = writer.addTensor({"x", DType::F32, Storage::Arena, 0, map, device, x + 1});
    const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, map});
    const auto z = writer.addTensor({"z", DType::F32, Storage::Output, 1, map});
    const auto w = writer.addTensor({"w", DType::F32, Storage::Weights, 0, map, device});
    const auto again = writer.addTensor({"w again", DType::F32, Storage::Weights, 0, map, device});
    const auto dm = writer.addTensor({"m", DType::F32, Storage::Arena, 512, map, device, z + 1});
    const auto m = writer.addTensor({"m", DType::F32, Storage::Arena, 0, map});
    const auto n = writer.addTensor({"n", DType::F32, Storage::Arena, 128, map});
    const auto dn = writer.addTensor({"n", DType::F32, Storage::Arena, 1024, map, device});
    const auto dy = writer.addTensor({"y", DType::F32, Storage::Arena, 0, map, device, y + 1}); // x is dead
    KernelInfo scale;
    scale.form = KernelForm::Launches;
    scale.parameters.resize(3);
    scale.scratch = {kCells * 4};
    scale.launches = {{"scale_0", {0, 1, 3}, {3, 1, 1}, {1, 8, 1}, 0}, {"scale_1", {3, 2}, {1, 1, 1}, {1, 1, 1}, 0}};
    KernelInfo add;
    add.form = KernelForm::Launches;
    add.parameters.resize(3);
    add.launches = {{"add_0", {0, 1, 2}, {1, 1, 1}, {1, 1, 1}, 0}};
    const ImageWriter::Launches ofScale = writer.addLaunches(device, scale), ofAdd = writer.addLaunches(device, add);
    const std::uint32_t scaleArgs[] = {dx, w, dm}, reverseArgs[] = {m, n}, addArgs[] = {dn, again, dy};
    writer.addCopy("write x", x, dx);
    writer.addDeviceKernel("scale", device, scaleArgs, 1, ofScale);
    writer.addCopy("read m", dm, m);
    writer.addKernel("reverse", reverseArgs, 1, 0, 1);
    writer.addCopy("write n", n, dn);
    writer.addDeviceKernel("add", device, addArgs, 1, ofAdd);
    writer.addCopy("read y", dy, y);
    writer.addCopy("read z", dm, z);
    writer.addInput(x, "");
    writer.addOutput(y, "");
    writer.addOutput(z, "");
    const std::vector<std::byte> bytes = writer.finish({.arena = 256, .weights = 128, .phases = 1});
    network.description.resize(bytes.size() / 8 + 1);
    network.descriptionBytes = bytes.size();
    std::memcpy(network.description.data(), bytes.data(), bytes.size());
    return network;
}

inline std::vector<float> someInput(float shift)
{
    std::vector<float> x;
    for (std::int64_t i = 0; i < kCells; ++i)
        x.push_back(static_cast<float>(i * i % 23) - shift);
    return x;
}

inline std::vector<float> scaled(const std::vector<float>& x)
{
    std::vector<float> m;
    for (std::int64_t i = 0; i < kCells; ++i)
        m.push_back(x[static_cast<std::size_t>(i)] * (static_cast<float>(i) - 3.5F));
    return m;
}

inline std::vector<float> expected(const std::vector<float>& x)
{
    const std::vector<float> m = scaled(x);
    std::vector<float> y;
    for (std::int64_t i = 0; i < kCells; ++i)
        y.push_back(m[static_cast<std::size_t>(kCells - 1 - i)] + (static_cast<float>(i) - 3.5F));
    return y;
}

struct ExecutorDeleter
{
    void operator()(Executor* e) const { Executor::destroy(e); }
};
using ExecutorPtr = std::unique_ptr<Executor, ExecutorDeleter>;

inline ExecutorPtr makeExecutor(const Model& model, std::uint32_t threads, ErrorText& error,
                                ParallelFor parallelFor = nullptr)
{
    Status status = Status::Ok;
    ExecutorOptions options;
    options.pool.threads = threads;
    options.pool.idleSpinMicroseconds = 50;
    options.parallelFor = parallelFor;
    return ExecutorPtr(Executor::create(model, options, status, error));
}

inline std::vector<std::byte> bytesOf(const std::vector<float>& values)
{
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(float)};
}

} // namespace lathe::test
