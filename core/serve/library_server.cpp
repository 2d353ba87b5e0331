#include "core/serve/library_server.h"

#include "core/runtime/clock.h"
#include "core/serve/library_bench.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <map>
#include <set>

namespace lathe::serve {

namespace {

void toWire(const LibraryPort& port, wire::LibraryPort* out)
{
    out->set_name(port.name);
    out->set_layout(port.layout);
    out->set_dtype(static_cast<std::uint32_t>(port.dtype));
    out->mutable_shape()->Assign(port.shape.begin(), port.shape.end());
    out->mutable_dynamic_axes()->Assign(port.dynamicAxes.begin(), port.dynamicAxes.end());
}

std::string_view textOf(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Sends a tensor at once, since those inside a network are gigabytes together, and names it.
void sendTensor(wire::Channel& channel, std::span<const std::byte> values, wire::Hash* name, Result<>& sent)
{
    const Hash128 hash = contentHash(textOf(values));
    wire::toWire(hash, name);
    if (!sent)
        return;
    channel.queueBlob(hash, textOf(values));
    sent = channel.pump();
}

Error noLibrary()
{
    return makeError(Errc::InvalidArgument, "no library is loaded");
}

} // namespace

Result<> LibraryServer::load(const wire::LoadLibrary& request)
{
    wire::Message answer;
    wire::LibraryLoaded& loaded = *answer.mutable_library_loaded();
    loaded.set_id(request.id());
    m_library.reset();
    auto library = LoadedLibrary::open(
        request.file(), request.name(),
        {request.threads(), request.map_weights(), request.variant(), request.device(), request.device_kind()});
    if (library) {
        m_library = *std::move(library);
        for (const LibraryPort& port : m_library->inputs())
            toWire(port, loaded.add_inputs());
        for (const LibraryPort& port : m_library->outputs())
            toWire(port, loaded.add_outputs());
        loaded.set_threads(m_library->threads());
        loaded.set_variant(m_library->variant());
        loaded.set_device(m_library->device());
        for (const LibraryVariant& variant : m_library->variants()) {
            auto& row = *loaded.add_variants();
            row.set_target(variant.target);
            row.set_runs_here(variant.runsHere);
        }
    } else {
        wire::setFailure(loaded.mutable_failure(), library.error());
    }
    return m_channel.send(answer, Deadline::never());
}

Result<> LibraryServer::run(const wire::RunLibrary& request)
{
    wire::Message answer;
    std::vector<wire::Blob> inputs;
    for (const wire::Hash& input : request.inputs()) {
        inputs.push_back(m_blobs.find(wire::fromWire(input)));
        if (!inputs.back())
            *answer.mutable_missing()->add_blobs() = input;
    }
    if (answer.has_missing()) {
        answer.mutable_missing()->set_id(request.id());
        return m_channel.send(answer, Deadline::never());
    }
    for (const wire::Hash& input : request.inputs())
        m_blobs.take(wire::fromWire(input)); // they may be gigabytes, and are the library's once they are set
    wire::LibraryRan& ran = *answer.mutable_library_ran();
    ran.set_id(request.id());
    Result<> sent;
    const auto work = [&]() -> Result<> {
        if (!m_library)
            return noLibrary();
        if (request.inputs_size() == 0)
            LATHE_TRY(m_library->fillInputs(request.seed()));
        else if (static_cast<std::size_t>(request.inputs_size()) != m_library->inputs().size())
            return makeError(Errc::InvalidArgument, "the library was given another number of inputs than it takes");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            LATHE_TRY(m_library->setInput(i, std::as_bytes(std::span(*inputs[i]))));
            inputs[i].reset();
        }
        const std::uint64_t begun = runtime::nowNanoseconds();
        if (request.observe_size() == 0) {
            LATHE_TRY(m_library->run());
        } else {
            const std::set<std::string, std::less<>> wanted(request.observe().begin(), request.observe().end());
            std::map<std::string, int> places; // in the answer: the last of a name takes the first one's
            LATHE_TRY(m_library->observe(wanted, [&](const LibraryPort& tensor, std::span<const std::byte> values) {
                const auto [place, isNew] = places.try_emplace(tensor.name, ran.observed_size());
                auto& observed = isNew ? *ran.add_observed() : *ran.mutable_observed(place->second);
                toWire(tensor, observed.mutable_tensor());
                sendTensor(m_channel, values, observed.mutable_values(), sent);
            }));
        }
        ran.set_seconds(static_cast<double>(runtime::nowNanoseconds() - begun) * 1e-9);
        for (std::size_t i = 0; request.return_inputs() && i < m_library->inputs().size(); ++i)
            sendTensor(m_channel, m_library->input(i), ran.add_inputs(), sent);
        for (std::size_t i = 0; request.return_outputs() && i < m_library->outputs().size(); ++i) {
            sendTensor(m_channel, m_library->output(i), ran.add_outputs(), sent);
            const std::vector<std::int64_t> shape = m_library->outputShape(i);
            ran.add_shapes()->mutable_extents()->Assign(shape.begin(), shape.end());
        }
        return {};
    };
    if (const auto done = work(); !done)
        wire::setFailure(ran.mutable_failure(), done.error());
    LATHE_TRY(std::move(sent));
    return m_channel.send(answer, Deadline::never());
}

Result<> LibraryServer::time(const wire::TimeLibrary& request)
{
    wire::Message answer;
    wire::LibraryTimed& timed = *answer.mutable_library_timed();
    timed.set_id(request.id());
    const wire::LibraryPlan plan{std::max(1U, request.number()), request.repeat(), request.min_repeat_ms(),
                                 request.max_seconds(), request.whole_only()};
    auto times = m_library ? benchLibrary(*m_library, plan, request.run_seconds())
                           : Result<wire::LibraryTimes>(noLibrary());
    if (times) {
        timed.mutable_runs_ns()->Assign(times->runsNs.begin(), times->runsNs.end());
        for (const wire::FunctionTime& function : times->functions) {
            auto& row = *timed.add_functions();
            row.set_name(function.name);
            row.set_kind(function.kind);
            row.set_ms(function.ms);
            row.set_min_ms(function.minMs);
        }
        timed.set_call_ms(times->callMs);
        timed.set_control_ns(times->controlNs);
    } else {
        wire::setFailure(timed.mutable_failure(), times.error());
    }
    return m_channel.send(answer, Deadline::never());
}

} // namespace lathe::serve
