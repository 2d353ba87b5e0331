#pragma once

#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/serve/device.h"
#include "core/support/files.h"
#include "core/target/kinds.h"
#include "core/wire/seeded.h"
#include "tests/conformance/ledger.h"
#include "tests/support/cuda_driver.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>

namespace lathe::test {

/// Of LATHE_CONFORMANCE_TARGETS, "opencl,cpu", if it is set.
inline std::vector<std::string> targets()
{
    std::vector<std::string> all = {"sim", "sim -like=cuda", "sim -like=mali", "opencl", "cuda -arch=sm_80"};
#ifdef LATHE_TEST_CPU
    all.push_back("cpu");
#endif
    if (qEnvironmentVariableIsSet("LATHE_CONFORMANCE_TARGETS")) {
        all.clear();
        for (const QString& target : qEnvironmentVariable("LATHE_CONFORMANCE_TARGETS").split(','))
            all.push_back(target.toStdString());
    }
    return all;
}

/// Schedules that are drawn for each target; LATHE_CONFORMANCE_DRAWN asks for more.
inline std::size_t wanted()
{
    const int given = qEnvironmentVariableIntValue("LATHE_CONFORMANCE_DRAWN");
    return given > 0 ? static_cast<std::size_t>(given) : 30;
}

struct Case
{
    std::string name;
    compute::DagPtr dag;
    std::string steps = "[]";
    std::vector<bool> constantInputs = {}; ///< those that may be packed ahead of time
    Drawn drawn = {}; ///< of a schedule that was drawn
};

inline compute::DagPtr finish(compute::DagBuilder& builder, compute::Tensor out)
{
    auto dag = std::move(builder).finish({out});
    return dag ? *dag : nullptr;
}

inline compute::DagPtr matmul(std::int64_t m, std::int64_t n, std::int64_t k)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {m, k}, DType::F32);
    const auto y = b.placeholder("B", {k, n}, DType::F32);
    return finish(
        b, b.reduce("C", {m, n}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", k}}, [&](const auto& a, const auto& r) {
            return b.at(x, {a[0], r[0]}) * b.at(y, {r[0], a[1]});
        }));
}

/// A 3x3 convolution with padding: the border is where guards go wrong.
inline compute::DagPtr convolution()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("data", {1, 7, 9, 5}, DType::F32);
    const auto w = b.placeholder("weight", {3, 3, 5, 6}, DType::F32);
    const auto padded = b.compute("pad", {1, 9, 11, 5}, {}, "injective,pad", [&](const auto& i) {
        return ir::ifThenElse(i[1] >= ir::Expr(1) && i[1] < ir::Expr(8) && i[2] >= ir::Expr(1) && i[2] < ir::Expr(10),
                              b.at(x, {i[0], i[1] - ir::Expr(1), i[2] - ir::Expr(1), i[3]}), ir::floatImm(0));
    });
    const auto conv = b.reduce(
        "conv", {1, 7, 9, 6}, {"n", "h", "w", "c"}, "", ir::Combiner::Sum, {{"ry", 3}, {"rx", 3}, {"rc", 5}},
        [&](const auto& a, const auto& r) {
            return b.at(padded, {a[0], a[1] + r[0], a[2] + r[1], r[2]}) * b.at(w, {r[0], r[1], r[2], a[3]});
        });
    return finish(b, b.compute("relu", {1, 7, 9, 6}, {}, "elemwise", [&](const auto& i) {
        return ir::max(b.at(conv, {i[0], i[1], i[2], i[3]}), ir::floatImm(0));
    }));
}

inline compute::DagPtr maximum()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {6, 11}, DType::F32);
    return finish(b, b.reduce("m", {6}, {"i"}, "", ir::Combiner::Max, {{"k", 11}}, [&](const auto& a, const auto& r) {
        return b.at(x, {a[0], r[0]});
    }));
}

inline KernelForm formOf(const std::string& target)
{
    return Target::parse(target)->traits().form;
}

inline std::vector<std::byte> inputBytes(const compute::Dag& dag, std::size_t input, std::uint64_t seed = 11)
{
    const compute::Op& op = dag.ops[static_cast<std::size_t>(dag.inputs[input])];
    std::int64_t count = 1;
    for (const std::int64_t extent : op.shape)
        count *= extent;
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * sizeOf(op.dtype)));
    wire::fillSeeded(wire::inputSeed(seed, input), op.dtype, {}, bytes);
    return bytes;
}

/// Of each output, in the order of a kernel's parameters.
inline std::vector<DType> outputTypes(const compute::Dag& dag)
{
    std::vector<DType> types;
    for (const std::int32_t output : dag.outputs) {
        const compute::Op& op = dag.ops[static_cast<std::size_t>(output)];
        for (const ir::Expr& body : op.bodies)
            types.push_back(op.bodies.size() > 1 ? body->dtype : op.dtype);
    }
    return types;
}

/// Runs one kernel of an artifact on the device, on inputs of the seed; the outputs in plain layout.
inline Result<std::vector<std::vector<std::byte>>> runKernel(serve::Device& device,
                                                             const measure::BuiltProduct& product, std::uint32_t kernel,
                                                             const compute::Dag& dag, std::uint64_t seed = 11)
{
    LATHE_TRY_ASSIGN(const serve::DeviceModule module,
                     device.load(std::as_bytes(std::span(product.bytes)), toJson(product.descriptor).dump()));
    const KernelInfo& info = product.descriptor.kernels[kernel];
    std::vector<serve::DeviceBuffer> buffers;
    std::vector<void*> pointers;
    std::size_t input = 0;
    for (const ArgSpec& spec : info.parameters) {
        std::vector<std::byte> physical(static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype)),
                                        std::byte(0xff));
        if (spec.role != ArgRole::Output)
            transformLayout(IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                            inputBytes(dag, input++, seed).data(), spec.map, physical.data(), spec.dtype);
        LATHE_TRY_ASSIGN(serve::DeviceBuffer buffer, device.allocate(physical.size()));
        LATHE_TRY(device.copyIn(buffer, physical));
        pointers.push_back(buffer.get());
        buffers.push_back(std::move(buffer));
    }
    const LatheLaunch launch = {module.get(), kernel, pointers.data(), static_cast<std::uint32_t>(pointers.size()), 1};
    LATHE_TRY_ASSIGN(const LatheTiming timing, device.run({&launch, 1}, 2, 0));
    if (timing.nanoseconds == 0 || timing.clock > 2 || timing.flags != 0)
        return makeError(Errc::Internal, "the timing is empty, of an unknown clock, or of nothing computed");
    std::vector<std::vector<std::byte>> outputs;
    for (std::size_t p = 0; p < info.parameters.size(); ++p) {
        const ArgSpec& spec = info.parameters[p];
        if (spec.role != ArgRole::Output)
            continue;
        std::vector<std::byte> physical(buffers[p].bytes());
        LATHE_TRY(device.copyOut(physical, buffers[p]));
        std::vector<std::byte> plain(static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype)));
        transformLayout(spec.map, physical.data(), IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                        plain.data(), spec.dtype);
        outputs.push_back(std::move(plain));
    }
    return outputs;
}

/// Empty if the outputs are those of the DAG: floats within `tolerance` of each element, or of 1 where that is larger,
/// all else to the last bit.
inline std::string compare(const compute::DagPtr& dag, const std::vector<std::vector<std::byte>>& outputs,
                           double tolerance = 1e-5, std::uint64_t seed = 11)
{
    std::vector<std::vector<std::byte>> inputs;
    for (std::size_t i = 0; i < dag->inputs.size(); ++i)
        inputs.push_back(inputBytes(*dag, i, seed));
    const auto interpreter = compute::Interpreter::compile(dag);
    if (!interpreter)
        return interpreter.error().message;
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    const auto expected = interpreter->run(views);
    if (!expected)
        return expected.error().message;
    const std::vector<DType> types = outputTypes(*dag);
    for (std::size_t o = 0; o < expected->size(); ++o) {
        const std::vector<std::byte>& want = (*expected)[o];
        if (outputs[o].size() != want.size())
            return "output " + std::to_string(o) + " has another size";
        const auto size = static_cast<std::size_t>(sizeOf(types[o]));
        for (std::size_t at = 0; at < want.size(); at += size) {
            const auto i = static_cast<std::int64_t>(at / size);
            const double a = wire::readElement(outputs[o].data(), i, types[o]);
            const double r = wire::readElement(want.data(), i, types[o]);
            const bool isRight = isFloat(types[o]) ? std::fabs(a - r) <= tolerance * std::max(1.0, std::fabs(r))
                                                   : std::memcmp(outputs[o].data() + at, want.data() + at, size) == 0;
            if (!isRight)
                return "output " + std::to_string(o) + " is " + std::to_string(a) + " at " + std::to_string(i)
                       + ", not " + std::to_string(r);
        }
    }
    return {};
}

/// Threads that exchange registers, as schedules are made for the device; 0: none do.
inline std::int64_t lanesOf(const serve::Device& device)
{
    const auto hardware = nlohmann::json::parse(device.description()).value("hardware", nlohmann::json::object());
    return hardware.contains("shuffle_width") ? hardware["shuffle_width"]["value"].get<std::int64_t>() : 0;
}

/// Both halves of back ends, for tests of what all of them must do.
class BackEnds
{
public:
    static Result<std::shared_ptr<serve::Device>> open(const std::string& target)
    {
        LATHE_TRY_ASSIGN(const LatheDeviceApi* api, serve::loadDeviceApi(pluginDir(), Target::parse(target)->kind()));
        const std::string words = target.find(' ') == std::string::npos ? ""
                                                                        : target.substr(target.find(' ') + 1) + ' ';
        return serve::Device::open(api, "", words + "-threads=2 -pin=off");
    }

protected:
    std::map<std::string, std::unique_ptr<measure::BuilderClient>> m_builders;
    std::map<std::string, std::string> m_withoutCompiler;

    static void prepareDrivers()
    {
        std::signal(SIGPIPE, SIG_IGN);
        findCudaDriver();
    }

    Result<measure::BuiltProduct> build(const std::string& target, const std::vector<Case>& list)
    {
        auto& builder = m_builders[target];
        if (!builder) {
            LATHE_TRY_ASSIGN(builder, measure::BuilderClient::start(target));
        }
        std::vector<measure::KernelJob> jobs;
        for (std::size_t i = 0; i < list.size(); ++i)
            jobs.push_back({"case" + std::to_string(i), compute::toJson(*list[i].dag).dump(), list[i].steps,
                            list[i].constantInputs});
        return builder->build(jobs, measure::Product::Artifact,
                              Deadline::inSeconds(60.0 * static_cast<double>(list.size())));
    }

    /// Builds all of them, some together, runs them, compares what comes out, and enters each in the ledger.
    /// `mayRefuse`: whether one that is no legal schedule is left out; else that is wrong, too.
    struct Outcome
    {
        std::size_t right = 0, refused = 0;
        std::string wrong; ///< of the first that is wrong, with its steps; empty: none is
    };
    Outcome runAll(const std::string& target, const std::vector<Case>& list, double tolerance, bool mayRefuse)
    {
        constexpr std::size_t kTogether = 30;
        Outcome outcome;
        const auto device = open(target);
        if (!device)
            return {0, 0, device.error().message};
        for (std::size_t first = 0; first < list.size(); first += kTogether) {
            const std::vector<Case> some(list.begin() + static_cast<std::ptrdiff_t>(first),
                                         list.begin()
                                             + static_cast<std::ptrdiff_t>(std::min(first + kTogether, list.size())));
            const auto product = build(target, some);
            if (!product)
                return {outcome.right, outcome.refused, product.error().message};
            if (qEnvironmentVariableIsSet("LATHE_CONFORMANCE_KEEP")) // artifacts, to look at
                if (const auto kept = writeFileAtomically(qEnvironmentVariable("LATHE_CONFORMANCE_KEEP").toStdString()
                                                              + '/' + target + '-' + std::to_string(first),
                                                          product->bytes);
                    !kept)
                    return {outcome.right, outcome.refused, kept.error().message};
            for (std::size_t i = 0; i < some.size(); ++i) {
                if (product->kernels[i].code == Errc::IllegalSchedule && mayRefuse) {
                    ++outcome.refused;
                    enterInLedger(target, some[i].drawn, some[i].steps, "refused", product->kernels[i].text);
                    continue;
                }
                const std::string problem = problemOf(**device, *product, i, some[i], tolerance);
                enterInLedger(target, some[i].drawn, some[i].steps, problem.empty() ? "right" : "wrong", problem);
                if (problem.empty())
                    ++outcome.right;
                else if (outcome.wrong.empty())
                    outcome.wrong = problem + '\n' + some[i].name + ' ' + some[i].steps;
            }
        }
        return outcome;
    }

    static std::string problemOf(serve::Device& device, const measure::BuiltProduct& product, std::size_t i,
                                 const Case& one, double tolerance)
    {
        if (product.kernels[i].code != Errc::Ok)
            return product.kernels[i].text;
        const auto outputs = runKernel(device, product, static_cast<std::uint32_t>(product.kernels[i].kernel),
                                       *one.dag);
        return outputs ? compare(one.dag, *outputs, tolerance) : outputs.error().message;
    }

    /// Why there is no device of the kind: the sentence of the row that stands for all of them. Empty: there is one.
    static std::string missing(const std::string& kind)
    {
        const auto api = serve::loadDeviceApi(pluginDir(), kind);
        if (!api)
            return {}; // which is a failure of its own
        const auto devices = nlohmann::json::parse((*api)->enumerate());
        return devices.size() == 1 ? devices[0].value("error", "") : "";
    }

    /// Why no code can be made for the target: NVIDIA's compiler, which is opened at run time, is not here. Empty: it
    /// can, or fails for another reason.
    std::string withoutCompiler(const std::string& target)
    {
        const auto known = m_withoutCompiler.find(target);
        if (known != m_withoutCompiler.end())
            return known->second;
        const auto product = build(target, {{"smallest", matmul(2, 2, 2)}});
        std::string why = product ? product->kernels[0].text : product.error().message;
        if (why.find("(libnvrtc)") == std::string::npos)
            why.clear();
        return m_withoutCompiler[target] = why;
    }

    /// In a row with a column "target".
    void skipWhereThereIsNoDevice()
    {
        QFETCH(QString, target);
        std::string problem = missing(Target::parse(target.toStdString())->kind());
        if (problem.empty())
            problem = withoutCompiler(target.toStdString());
        if (!problem.empty())
            QSKIP(problem.c_str());
    }

    static void eachTarget(std::optional<KernelForm> form = {})
    {
        QTest::addColumn<QString>("target");
        for (const std::string& target : targets())
            if (!form || formOf(target) == *form)
                QTest::newRow(target.c_str()) << QString::fromStdString(target);
    }
    /// And with the limits of Mali's GPUs, where OpenCL is asked.
    static void eachTargetAndMali()
    {
        eachTarget();
        const std::vector<std::string> all = targets();
        if (std::ranges::find(all, "opencl") != all.end())
            QTest::newRow("opencl -device=mali") << "opencl -device=mali";
    }
};

} // namespace lathe::test
