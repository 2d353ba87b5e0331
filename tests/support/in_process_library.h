#pragma once

#include "core/deploy/library_host.h"
#include "core/deploy/shared_object.h"
#include "core/serve/loaded_library.h"

#include <algorithm>
#include <memory>

namespace lathe::test {

/// An exported network in the test's own process, where a test is about the library and not about what is around it.
class InProcessLibrary : public deploy::LibraryHost
{
public:
    static Result<std::unique_ptr<InProcessLibrary>> open(const std::filesystem::path& file,
                                                          const serve::LoadedLibrary::Options& options = {})
    {
        LATHE_TRY_ASSIGN(const std::string name, deploy::findLibraryName(file));
        auto host = std::make_unique<InProcessLibrary>();
        LATHE_TRY_ASSIGN(host->m_library, serve::LoadedLibrary::open(file, name, options));
        for (const serve::LibraryPort& port : host->m_library->inputs())
            host->m_inputs.push_back(portOf(port));
        for (const serve::LibraryPort& port : host->m_library->outputs())
            host->m_outputs.push_back(portOf(port));
        return host;
    }

    const std::vector<deploy::PortInfo>& inputs() const override { return m_inputs; }
    const std::vector<deploy::PortInfo>& outputs() const override { return m_outputs; }
    serve::LoadedLibrary& library() { return *m_library; }

private:
    static deploy::PortInfo portOf(const serve::LibraryPort& port)
    {
        return {port.name, port.layout, {port.dtype, port.shape}, port.dynamicAxes};
    }
    static graph::HostTensor tensorOf(const graph::TensorType& type, std::span<const std::byte> values)
    {
        return {type, {values.begin(), values.end()}};
    }

    Result<deploy::LibraryRun> runChecked(const deploy::LibraryRunRequest& request) override
    {
        if (request.inputs.empty())
            LATHE_TRY(m_library->fillInputs(request.seed));
        for (std::size_t i = 0; i < request.inputs.size(); ++i)
            LATHE_TRY(m_library->setInput(i, request.inputs[i].bytes));
        deploy::LibraryRun run;
        if (request.observe.empty())
            LATHE_TRY(m_library->run());
        else
            LATHE_TRY(m_library->observe({request.observe.begin(), request.observe.end()},
                                         [&](const serve::LibraryPort& tensor, std::span<const std::byte> values) {
                                             auto place = std::ranges::find(
                                                 run.observed, tensor.name,
                                                 [](const auto& seen) { return seen.first; });
                                             if (place == run.observed.end())
                                                 place = run.observed.insert(place, {tensor.name, {}});
                                             place->second = tensorOf(portOf(tensor).type, values);
                                         }));
        for (std::size_t i = 0; request.returnInputs && i < m_inputs.size(); ++i)
            run.inputs.push_back(tensorOf(m_inputs[i].type, m_library->input(i)));
        for (std::size_t i = 0; request.returnOutputs && i < m_outputs.size(); ++i)
            run.outputs.push_back(tensorOf({m_outputs[i].type.dtype, m_library->outputShape(i)}, m_library->output(i)));
        return run;
    }

    std::unique_ptr<serve::LoadedLibrary> m_library;
    std::vector<deploy::PortInfo> m_inputs, m_outputs;
};

} // namespace lathe::test
