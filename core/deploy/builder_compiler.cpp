#include "core/compute/json.h"
#include "core/deploy/compiler.h"
#include "core/measure/builder_client.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace lathe::deploy {

namespace {

class BuilderCompiler : public Compiler
{
public:
    BuilderCompiler(std::unique_ptr<measure::BuilderClient> client, std::chrono::nanoseconds timeout)
        : m_client(std::move(client)), m_timeout(timeout)
    {
    }

    Result<CompiledKernels> compile(std::span<const KernelSource> kernels) override
    {
        std::vector<measure::KernelJob> jobs;
        for (const KernelSource& kernel : kernels)
            jobs.push_back({kernel.name, compute::toJson(*kernel.dag).dump(), kernel.steps, kernel.constantInputs});
        LATHE_TRY_ASSIGN(measure::BuiltProduct product, m_client->build(jobs, measure::Product::Object, Deadline::in(m_timeout)));
        if (product.kernels.size() != kernels.size())
            return makeError(Errc::Internal, fmt::format("{} kernels were asked for, the builder answered for {}", kernels.size(), product.kernels.size()));
        CompiledKernels compiled;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const measure::KernelStatus& status = product.kernels[i];
            if (status.code != Errc::Ok)
                return makeError(status.code, fmt::format("kernel '{}': {}", kernels[i].name, status.text));
            if (status.kernel < 0 || static_cast<std::size_t>(status.kernel) >= product.descriptor.kernels.size())
                return makeError(Errc::Internal, fmt::format("kernel '{}' was built but is not described", kernels[i].name));
            compiled.kernels.push_back(product.descriptor.kernels[static_cast<std::size_t>(status.kernel)]);
        }
        compiled.object.resize(product.bytes.size());
        std::memcpy(compiled.object.data(), product.bytes.data(), product.bytes.size());
        return compiled;
    }

    Result<> link(const backend::LibraryRequest& request) override { return m_client->link(request, Deadline::in(m_timeout)); }

private:
    std::unique_ptr<measure::BuilderClient> m_client;
    std::chrono::nanoseconds m_timeout;
};

} // namespace

std::unique_ptr<Compiler> makeBuilderCompiler(std::unique_ptr<measure::BuilderClient> client, std::chrono::nanoseconds timeout)
{
    return std::make_unique<BuilderCompiler>(std::move(client), timeout);
}

} // namespace lathe::deploy
