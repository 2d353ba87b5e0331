#pragma once

#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/support/math_points.h"

#include <QtGlobal>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace lathe::test {

template<typename T>
constexpr DType floatType()
{
    return sizeof(T) == 4 ? DType::F32 : DType::F64;
}

/// A function of the code generator, compiled once: kCount points at a time, in vectors of 16.
template<typename T>
class MathKernel
{
public:
    static constexpr int kCount = 4096;

    MathKernel(backend::Codegen& codegen, const std::string& name, std::size_t arguments)
    {
        std::vector<ir::Buffer> buffers;
        for (std::size_t i = 0; i < arguments; ++i)
            buffers.push_back(buffer("x" + std::to_string(i), floatType<T>(), {kCount}));
        buffers.push_back(buffer("out", floatType<T>(), {kCount}));
        const auto out = static_cast<std::int32_t>(arguments);
        const ir::Stmt split = loop("o", kCount / 16, ir::LoopKind::Serial, [&](ir::Expr o) {
            return loop("l", 16, ir::LoopKind::Vectorized, [&](ir::Expr l) {
                std::vector<ir::Expr> loads;
                for (std::int32_t a = 0; a < out; ++a)
                    loads.push_back(ir::load(a, floatType<T>(), {o * 16 + l}));
                return ir::makeStore(out, {o * 16 + l}, ir::call(name, floatType<T>(), loads));
            });
        });
        const schedule::LoweredKernel kernel = kernelOf("maths", buffers, {split});
        const Result<backend::Artifact> artifact = codegen.build({&kernel, 1});
        if (!artifact)
            qFatal("%s", artifact.error().message.c_str());
        Result<LoadedKernels> loaded = LoadedKernels::load(*artifact);
        if (!loaded)
            qFatal("%s", loaded.error().message.c_str());
        m_kernel = std::make_unique<LoadedKernels>(std::move(*loaded));
        for (std::size_t i = 0; i <= arguments; ++i)
            m_memory.emplace_back(kCount * sizeof(T));
    }

    /// Of kCount points each.
    std::vector<T> run(const std::vector<std::vector<T>>& inputs)
    {
        std::vector<void*> tensors;
        for (std::size_t i = 0; i < m_memory.size(); ++i) {
            if (i < inputs.size())
                std::memcpy(m_memory[i].data(), inputs[i].data(), kCount * sizeof(T));
            tensors.push_back(m_memory[i].data());
        }
        m_kernel->run(0, tensors);
        std::vector<T> result(kCount);
        std::memcpy(result.data(), tensors.back(), kCount * sizeof(T));
        return result;
    }

private:
    std::unique_ptr<LoadedKernels> m_kernel;
    std::vector<GuardedBuffer> m_memory;
};

} // namespace lathe::test
