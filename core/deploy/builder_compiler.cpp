#include "core/compute/json.h"
#include "core/deploy/compiler.h"
#include "core/measure/builder_client.h"
#include "core/support/message.h"
#include "core/target/target.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <thread>

namespace lathe::deploy {

namespace {

class BuilderCompiler : public Compiler
{
public:
    BuilderCompiler(std::vector<std::unique_ptr<measure::BuilderClient>> clients, std::string linker,
                    std::chrono::nanoseconds timeout, std::stop_token stop)
        : m_clients(std::move(clients))
        , m_linker(std::move(linker))
        , m_timeout(timeout)
        , m_stop(std::move(stop))
    {
    }

    Result<CompiledKernels> compile(std::span<const KernelSource> kernels) override
    {
        // Kernel i is made by client i modulo their number: neighbours in a network are alike and share their time.
        const std::size_t shares = std::clamp<std::size_t>(kernels.size(), 1, m_clients.size());
        std::vector<std::vector<measure::KernelJob>> jobs(shares);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            jobs[i % shares].push_back({kernels[i].name, compute::toJson(*kernels[i].dag).dump(), kernels[i].steps,
                                        kernels[i].constantInputs});
        std::vector<Result<measure::BuiltProduct>> products(shares);
        {
            const Deadline deadline = Deadline::in(m_timeout);
            const auto build = [&](std::size_t share) {
                products[share] = m_clients[share]->build(jobs[share], measure::Product::Object, deadline);
            };
            std::vector<std::jthread> threads;
            for (std::size_t share = 1; share < shares; ++share)
                threads.emplace_back(build, share);
            build(0);
        }
        CompiledKernels compiled;
        for (std::size_t share = 0; share < shares; ++share) {
            LATHE_TRY_ASSIGN(const measure::BuiltProduct& product, std::move(products[share]));
            if (product.kernels.size() != jobs[share].size())
                return makeError(Errc::Internal, fmt::format("{} kernels were asked for, the builder answered for {}",
                                                             jobs[share].size(), product.kernels.size()));
            const auto bytes = std::as_bytes(std::span(product.bytes));
            compiled.objects.emplace_back(bytes.begin(), bytes.end());
            compiled.kernels.resize(kernels.size());
            compiled.features = product.descriptor.features;
            for (std::size_t i = share; i < kernels.size(); i += shares) {
                const measure::KernelStatus& status = product.kernels[i / shares];
                if (status.code != Errc::Ok)
                    return makeError(status.code,
                                     say(Msg::KernelNoted, kernels[i].name, messageOf(status.text, status.about)));
                if (status.kernel < 0 || static_cast<std::size_t>(status.kernel) >= product.descriptor.kernels.size())
                    return makeError(Errc::Internal,
                                     fmt::format("kernel '{}' was built but is not described", kernels[i].name));
                compiled.kernels[i] = product.descriptor.kernels[static_cast<std::size_t>(status.kernel)];
            }
        }
        return compiled;
    }

    Result<> link(const backend::LibraryRequest& request) override
    {
        const Deadline deadline = Deadline::in(m_timeout);
        if (m_linker.empty())
            return m_clients.front()->link(request, deadline);
        LATHE_TRY_ASSIGN(const auto client, measure::BuilderClient::start(m_linker, {}, m_stop));
        return client->link(request, deadline);
    }

private:
    std::vector<std::unique_ptr<measure::BuilderClient>> m_clients;
    std::string m_linker; ///< another target's back end; empty: the first client links
    std::chrono::nanoseconds m_timeout;
    std::stop_token m_stop;
};

} // namespace

Result<std::unique_ptr<Compiler>> makeBuilderCompiler(const std::string& target, std::size_t builders,
                                                      std::chrono::nanoseconds timeout, std::stop_token stop,
                                                      const std::string& device)
{
    LATHE_TRY_ASSIGN(const Target parsed, Target::parse(target));
    std::vector<std::unique_ptr<measure::BuilderClient>> clients;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, builders); ++i) {
        LATHE_TRY_ASSIGN(auto client, measure::BuilderClient::start(target, {}, stop, device));
        clients.push_back(std::move(client));
    }
    return std::unique_ptr<Compiler>(
        std::make_unique<BuilderCompiler>(std::move(clients), parsed.traits().linker, timeout, std::move(stop)));
}

} // namespace lathe::deploy
