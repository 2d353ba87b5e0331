#pragma once

/// A small network on a CUDA device, for tests of the graphs that its runs become.

#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/plugins/cuda/library_fixture.h"
#include "tests/plugins/library_cases.h"

#include <QString>

#include <cstring>
#include <list>
#include <memory>
#include <vector>

namespace lathe::graph_network {

using namespace lathe::runtime;
using namespace lathe::test;

struct Destroy
{
    void operator()(Executor* executor) const { Executor::destroy(executor); }
};
using ExecutorPtr = std::unique_ptr<Executor, Destroy>;

/// b = 10 a, on the processor.
inline std::int32_t tenfold(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    for (std::size_t i = 0; part == 0 && i < kFloats; ++i)
        static_cast<float*>(args->tensors[1])[i] = 10 * static_cast<const float*>(args->tensors[0])[i];
    return 0;
}

/// What lies between the two parts of a network on the device.
enum class Between
{
    Nothing, ///< there is one part
    Step, ///< of the processor
    Memory ///< of the processor's, from which the second part takes what the first has left there
};

/// y = 2 x + 1 on the device. With something between: that twice, and tenfold between the two if there is a step.
struct Network
{
    explicit Network(Between between)
        : code(packed({doubledAndOnePtx(), {}, {}, "k_0\nk_1\n"}))
    {
        deploy::ImageWriter writer("doubled");
        const std::uint32_t device = writer.addDevice("cuda -arch=sm_50", 2048, 512);
        const std::int64_t shape[] = {kFloats};
        const IndexMap map = IndexMap::plain(shape, 1);
        KernelInfo info;
        info.name = "k";
        info.form = KernelForm::Launches;
        info.parameters = {{"x", ArgRole::Input, DType::F32, map}, {"y", ArgRole::Output, DType::F32, map}};
        info.scratch = {kFloatBytes};
        info.launches = {{"k_0", {0, 2}, {4, 1, 1}, {16, 1, 1}, 0}, {"k_1", {2, 1}, {4, 1, 1}, {16, 1, 1}, 0}};
        const auto x = writer.addTensor({"x", DType::F32, Storage::Input, 0, map});
        const auto y = writer.addTensor({"y", DType::F32, Storage::Output, 0, map});
        const auto dx = writer.addTensor({"x", DType::F32, Storage::Arena, 0, map, device, x + 1});
        const auto dy = writer.addTensor({"y", DType::F32, Storage::Arena, 512, map, device, y + 1});
        const auto launches = writer.addLaunches(device, info);
        const auto add = [&](std::uint32_t from, std::uint32_t to) {
            const std::uint32_t arguments[] = {from, to};
            writer.addDeviceKernel("doubled", device, arguments, 1, launches);
        };
        writer.addCopy("write x", x, dx);
        if (between != Between::Nothing) {
            const auto da = writer.addTensor({"a", DType::F32, Storage::Arena, 1024, map, device});
            const auto a = writer.addTensor({"a", DType::F32, Storage::Arena, 0, map});
            const auto b = writer.addTensor({"b", DType::F32, Storage::Arena, 512, map});
            const auto db = writer.addTensor({"b", DType::F32, Storage::Arena, 1536, map, device});
            add(dx, da);
            writer.addCopy("read a", da, a);
            const std::uint32_t arguments[] = {a, b};
            if (between == Between::Step)
                writer.addKernel("tenfold", arguments, 1, 0, 1);
            writer.addCopy("write b", between == Between::Step ? b : a, db);
            add(db, dy);
        } else {
            add(dx, dy);
        }
        writer.addCopy("read y", dy, y);
        writer.addInput(x, "");
        writer.addOutput(y, "");
        deploy::ImageWriter::Sizes sizes;
        sizes.arena = between != Between::Nothing ? 1024 : 0;
        sizes.phases = between == Between::Step ? 1 : 0;
        const std::vector<std::byte> bytes = writer.finish(sizes);
        description.resize(bytes.size() / 8 + 1);
        std::memcpy(description.data(), bytes.data(), bytes.size());
        ModelSource source;
        source.description = reinterpret_cast<const std::byte*>(description.data());
        source.descriptionBytes = bytes.size();
        source.phases = phases;
        source.phaseCount = between == Between::Step ? 1 : 0;
        source.drivers = drivers;
        source.driverCount = 1;
        source.code = code.data();
        source.codeBytes = code.size();
        ErrorText error;
        if (model.open(source, true, error) != Status::Ok)
            qFatal("%s", error.text);
    }

    ExecutorPtr instance(void* stream = nullptr) const
    {
        ExecutorOptions options;
        options.pool.threads = 1;
        options.deviceQueue = stream;
        Status status = Status::Ok;
        ErrorText error;
        ExecutorPtr made(Executor::create(model, options, status, error));
        if (made == nullptr)
            qFatal("%s", error.text);
        return made;
    }

    const DeviceDriver* drivers[1] = {&kLibrary};
    LathePhase phases[1] = {tenfold};
    std::vector<std::byte> code;
    std::vector<std::uint64_t> description;
    Model model;
};

inline float expected(float x, Between between)
{
    const float once = 2 * x + 1;
    return between == Between::Nothing ? once : 2 * (between == Between::Step ? 10 * once : once) + 1;
}

/// Empty if y is what it should be.
inline QString check(const float* y, float first, Between between)
{
    for (std::size_t i = 0; i < kFloats; ++i)
        if (y[i] != expected(first + static_cast<float>(i), between))
            return QStringLiteral("y[%1] is %2").arg(i).arg(y[i]);
    return {};
}

inline void fill(float* x, float first)
{
    for (std::size_t i = 0; i < kFloats; ++i)
        x[i] = first + static_cast<float>(i);
}

/// Binds new buffers of the caller's, and runs.
inline QString run(Executor& executor, float first, Between between)
{
    static std::list<std::vector<float>> bound; // buffers live as long as they are bound
    std::vector<float>&x = bound.emplace_back(kFloats), &y = bound.emplace_back(kFloats, -1.0F);
    fill(x.data(), first);
    if (executor.bindInput(0, x.data(), kFloatBytes) != Status::Ok
        || executor.bindOutput(0, y.data(), kFloatBytes) != Status::Ok || executor.run() != Status::Ok)
        return QString::fromUtf8(executor.lastError().text);
    return check(y.data(), first, between);
}

} // namespace lathe::graph_network
