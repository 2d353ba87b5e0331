#include "tests/plugins/cpu/codegen_fixture.h"

#include "core/ir/interpret.h"
#include "core/ir/scalar.h"
#include "core/ir/scratch.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

namespace lathe::test {

namespace {

void fillRandomly(std::span<std::byte> bytes, DType dtype, std::mt19937_64& random, const Comparison& comparison)
{
    const auto size = static_cast<std::size_t>(sizeOf(dtype));
    std::uniform_real_distribution<double> reals(comparison.low, comparison.high);
    std::uniform_int_distribution<std::int64_t> integers(dtype == DType::Bool ? 0
                                                         : isSigned(dtype)    ? -9
                                                                              : 0,
                                                         dtype == DType::Bool ? 1 : 9);
    for (std::size_t at = 0; at + size <= bytes.size(); at += size)
        ir::storeScalar(bytes.data() + at, dtype, ir::Scalar{reals(random), integers(random)});
}

std::string firstDifference(const ir::Buffer& buffer, std::span<const std::byte> got, std::span<const std::byte> want,
                            double tolerance)
{
    const auto size = static_cast<std::size_t>(sizeOf(buffer.dtype));
    for (std::size_t at = 0; at + size <= want.size(); at += size) {
        const ir::Scalar g = ir::loadScalar(got.data() + at, buffer.dtype);
        const ir::Scalar w = ir::loadScalar(want.data() + at, buffer.dtype);
        const bool bothNan = std::isnan(g.f) && std::isnan(w.f);
        const bool equal = isFloat(buffer.dtype)
                               ? bothNan || g.f == w.f || std::abs(g.f - w.f) <= tolerance * (1 + std::abs(w.f))
                               : g.i == w.i;
        if (!equal)
            return isFloat(buffer.dtype) ? fmt::format("{}[{}] is {}, should be {}", buffer.name, at / size, g.f, w.f)
                                         : fmt::format("{}[{}] is {}, should be {}", buffer.name, at / size, g.i, w.i);
    }
    return {};
}

} // namespace

std::unique_ptr<backend::Codegen> codegenFor(const std::string& text)
{
    const Result<Target> target = Target::parse(text);
    if (!target) {
        fmt::print(stderr, "{}\n", target.error().message);
        return nullptr;
    }
    Result<std::unique_ptr<backend::Codegen>> codegen = cpu::CpuCodegen::create(*target);
    if (!codegen) {
        fmt::print(stderr, "{}\n", codegen.error().message);
        return nullptr;
    }
    return *std::move(codegen);
}

std::string compareWithInterpreter(const schedule::LoweredKernel& kernel, backend::Codegen& codegen,
                                   const Comparison& comparison)
{
    const Result<backend::Artifact> artifact = codegen.build({&kernel, 1});
    if (!artifact)
        return "build: " + artifact.error().message;
    const Result<LoadedKernels> loaded = LoadedKernels::load(*artifact);
    if (!loaded)
        return "load: " + loaded.error().message;
    const Result<ir::NestInterpreter> interpreter = ir::NestInterpreter::compile(kernel.nest);
    if (!interpreter)
        return "interpreter: " + interpreter.error().message;

    for (const unsigned parts : comparison.parts) {
        std::mt19937_64 random(comparison.seed);
        std::vector<GuardedBuffer> memory;
        std::vector<std::vector<std::byte>> wanted;
        std::vector<void*> tensors;
        std::vector<std::span<std::byte>> spans;
        for (const std::int32_t p : kernel.nest.parameters) {
            const ir::Buffer& b = kernel.nest.buffers[static_cast<std::size_t>(p)];
            const auto bytes = static_cast<std::size_t>(ir::elementCount(b) * sizeOf(b.dtype));
            memory.emplace_back(bytes);
            wanted.emplace_back(bytes);
            fillRandomly(wanted.back(), b.dtype, random, comparison);
            std::memcpy(memory.back().data(), wanted.back().data(), bytes);
            tensors.push_back(memory.back().data());
            if (b.readOnly)
                memory.back().protectWrites();
        }
        for (std::vector<std::byte>& bytes : wanted)
            spans.emplace_back(bytes);
        if (const Result<> done = interpreter->run(spans, parts); !done)
            return "interpreter: " + done.error().message;
        if (const int code = loaded->run(0, tensors, parts); code != 0)
            return fmt::format("the kernel returned {}", code);
        for (std::size_t p = 0; p < memory.size(); ++p) {
            const ir::Buffer& b = kernel.nest.buffers[static_cast<std::size_t>(kernel.nest.parameters[p])];
            const std::span<const std::byte> got(static_cast<const std::byte*>(memory[p].data()), memory[p].size());
            if (std::string difference = firstDifference(b, got, wanted[p], comparison.tolerance); !difference.empty())
                return fmt::format("{} (parts {}, seed {})", difference, parts, comparison.seed);
            if (!memory[p].tailIntact())
                return fmt::format("{} was written behind its end", b.name);
        }
    }
    return {};
}

} // namespace lathe::test
