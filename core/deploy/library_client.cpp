#include "core/deploy/library_client.h"

#include "core/deploy/shared_object.h"
#include "core/measure/worker_client.h"
#include "core/support/element_count.h"
#include "core/support/mapped_file.h"
#include "core/support/message.h"
#include "core/target/target.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::deploy {

namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t(64) << 30; // those inside a network, all together
constexpr std::uint64_t kMostLibraryBytes = std::uint64_t(1) << 30; ///< what a board's runner holds (FarmRunnerOptions)
constexpr double kLeastBytesPerSecond = 100e3; ///< to a board
constexpr double kMostBenchRuns = 500; // of the benchmark's method, where nothing says how many repeats to take

// The runner may have been spoiled by what is in the library: what it says is looked at before it is used.

Result<PortInfo> readPort(const wire::LibraryPort& in)
{
    bool fits = in.dtype() <= static_cast<std::uint32_t>(DType::F64)
                && checkedElementCount({in.shape().data(), static_cast<std::size_t>(in.shape_size())}, kMaxTensorBytes);
    for (const std::int32_t axis : in.dynamic_axes())
        fits = fits && axis >= 0 && axis < in.shape_size();
    if (!fits)
        return makeError(Errc::Internal, fmt::format("the runner describes '{}' as no tensor", in.name()));
    return PortInfo{in.name(),
                    in.layout(),
                    {static_cast<DType>(in.dtype()), {in.shape().begin(), in.shape().end()}},
                    {in.dynamic_axes().begin(), in.dynamic_axes().end()}};
}

Result<graph::HostTensor> readTensor(const graph::TensorType& type, const wire::Hash& values, wire::BlobStore& blobs)
{
    const wire::Blob blob = blobs.find(wire::fromWire(values));
    graph::HostTensor tensor{type, {}};
    const std::int64_t bytes = elementCount(type.shape) * sizeOf(type.dtype);
    if (bytes == 0) // nothing is sent of it
        return tensor;
    if (!blob || blob->size() != static_cast<std::size_t>(bytes))
        return makeError(Errc::Internal, "the runner did not send a tensor whole");
    tensor.bytes.resize(blob->size());
    std::copy_n(reinterpret_cast<const std::byte*>(blob->data()), blob->size(), tensor.bytes.data());
    return tensor;
}

template<typename Ports>
Result<std::vector<PortInfo>> readPorts(const Ports& in)
{
    std::vector<PortInfo> ports;
    for (const wire::LibraryPort& one : in) {
        LATHE_TRY_ASSIGN(PortInfo port, readPort(one));
        ports.push_back(std::move(port));
    }
    return ports;
}

template<typename Hashes>
Result<std::vector<graph::HostTensor>> readTensors(const std::vector<PortInfo>& ports, const Hashes& values,
                                                   wire::BlobStore& blobs)
{
    if (static_cast<std::size_t>(values.size()) != ports.size())
        return makeError(Errc::Internal, "the runner lost count of the network's tensors");
    std::vector<graph::HostTensor> tensors;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        LATHE_TRY_ASSIGN(graph::HostTensor tensor, readTensor(ports[i].type, values[static_cast<int>(i)], blobs));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// The ports with the shapes that they had in a run.
template<typename Shapes>
Result<std::vector<PortInfo>> cutPorts(std::vector<PortInfo> ports, const Shapes& shapes)
{
    bool fits = static_cast<std::size_t>(shapes.size()) == ports.size();
    for (std::size_t i = 0; fits && i < ports.size(); ++i) {
        const auto& extents = shapes[static_cast<int>(i)].extents();
        std::vector<std::int64_t>& shape = ports[i].type.shape;
        fits = std::ranges::equal(extents, shape,
                                  [](std::int64_t n, std::int64_t most) { return n >= 0 && n <= most; });
        shape.assign(extents.begin(), extents.end());
    }
    if (!fits)
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    return ports;
}

} // namespace

struct LibraryClient::Impl
{
    std::filesystem::path file;
    std::string name;
    Options options;
    std::unique_ptr<measure::RemoteDevices> devices; ///< behind a broker: of the worker, which ends before it
    measure::WorkerClient worker;
    std::optional<MappedFile> bytes; ///< of the library, where it is to be sent
    Hash128 bytesHash;
    std::vector<PortInfo> inputs, outputs;
    std::string variant, device;
    std::vector<LoadedVariant> variants;
    unsigned threads = 0;
    std::uint64_t place = 0; ///< the worker that has it loaded

    Impl(std::filesystem::path path, Options wanted, std::stop_token stop)
        : file(std::move(path))
        , options(std::move(wanted))
        , worker(measure::WorkerKind::Runner, options.programs, std::move(stop))
    {
    }
    Impl(std::filesystem::path path, Options wanted, std::unique_ptr<measure::RemoteDevices> from,
         std::unique_ptr<measure::Endpoint> endpoint, std::stop_token stop)
        : file(std::move(path))
        , options(std::move(wanted))
        , devices(std::move(from))
        , worker(std::move(endpoint), std::move(stop))
    {
    }

    Impl(std::filesystem::path path, Options wanted, measure::Endpoint& endpoint, std::stop_token stop)
        : file(std::move(path))
        , options(std::move(wanted))
        , worker(endpoint, std::move(stop))
    {
    }

    /// So that it can be sent.
    static Result<MappedFile> readBytes(const std::filesystem::path& file)
    {
        LATHE_TRY_ASSIGN(MappedFile bytes, MappedFile::open(file));
        if (bytes.bytes().size() > kMostLibraryBytes)
            return makeError(Errc::Unsupported,
                             say(Msg::LibraryNotSent, file.string(), bytes.bytes().size(), kMostLibraryBytes));
        return bytes;
    }
    /// On a device behind a broker.
    static Result<std::unique_ptr<Impl>> openRemote(const std::filesystem::path& file, const Options& options,
                                                    const std::stop_token& stop)
    {
        measure::RemoteClaim claim = *options.remote;
        claim.most = 1;
        LATHE_TRY_ASSIGN(auto devices, measure::RemoteDevices::open(std::move(claim), std::nullopt));
        LATHE_TRY_ASSIGN(auto some, devices->waitForSome(options.onNotice, stop));
        devices->hold(true);
        return std::make_unique<Impl>(file, options, std::move(devices), std::move(some.front()), stop);
    }
    std::string_view text() const
    {
        return {reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size()};
    }

    Result<wire::Message> ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                              wire::BlobStore& blobs, double seconds, std::string_view doing)
    {
        auto answer = worker.ask(request, needed, blobs, Deadline::inSeconds(seconds));
        if (answer)
            return answer;
        place = 0;
        switch (answer.error().code) {
        case Errc::Cancelled:
            return makeError(Errc::Cancelled, fmt::format("{} '{}' was stopped", doing, file.string()));
        case Errc::RunTimeout:
            return makeError(Errc::RunTimeout, fmt::format("{} '{}' took longer than {:.0f} s and was stopped", doing,
                                                           file.string(), seconds));
        case Errc::WorkerCrashed: return std::move(answer).error().note(fmt::format("{} '{}'", doing, file.string()));
        default: return answer;
        }
    }

    Result<> load()
    {
        LATHE_TRY(worker.ensureStarted());
        const bool others = options.lent != nullptr && worker.othersAsked();
        if (place == worker.place() && !others)
            return {};
        wire::Message message;
        wire::LoadLibrary& request = *message.mutable_load_library();
        request.set_id(worker.nextId());
        request.set_file(std::filesystem::absolute(file).string());
        request.set_name(name);
        request.set_threads(options.threads);
        request.set_map_weights(options.mapWeights);
        request.set_variant(options.variant);
        request.set_device(options.device);
        request.set_device_kind(options.deviceKind);
        std::map<Hash128, std::string_view> needed;
        double seconds = options.runSeconds;
        if (bytes) {
            wire::toWire(bytesHash, request.mutable_blob());
            needed.emplace(bytesHash, text());
            seconds += static_cast<double>(bytes->bytes().size()) / kLeastBytesPerSecond;
        }
        wire::BlobStore none;
        LATHE_TRY_ASSIGN(const wire::Message answer, ask(message, needed, none, seconds, "loading"));
        if (!answer.has_library_loaded())
            return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
        const wire::LibraryLoaded& loaded = answer.library_loaded();
        if (loaded.failure().code() != 0)
            return wire::errorOf(loaded.failure());
        LATHE_TRY_ASSIGN(inputs, readPorts(loaded.inputs()));
        LATHE_TRY_ASSIGN(outputs, readPorts(loaded.outputs()));
        threads = loaded.threads();
        variant = loaded.variant();
        device = loaded.device();
        variants.clear();
        for (const auto& one : loaded.variants())
            variants.push_back({one.target(), one.runs_here()});
        place = worker.place();
        return {};
    }

    /// A runner that was killed from outside is replaced, once.
    template<typename T, typename Work>
    Result<T> twice(Work work)
    {
        Result<T> result = work();
        if (!result && result.error().code == Errc::WorkerCrashed && worker.wasKilled())
            result = work();
        return result;
    }

    Result<LibraryRun> run(const LibraryRunRequest& wanted)
    {
        LATHE_TRY(load());
        wire::Message message;
        wire::RunLibrary& request = *message.mutable_run_library();
        request.set_id(worker.nextId());
        request.set_seed(wanted.seed);
        request.set_return_inputs(wanted.returnInputs);
        request.set_return_outputs(wanted.returnOutputs);
        for (const std::string& tensor : wanted.observe)
            request.add_observe(tensor);
        std::map<Hash128, std::string_view> needed;
        for (const graph::HostTensor& input : wanted.inputs) {
            const std::string_view values(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
            const Hash128 hash = contentHash(values);
            wire::toWire(hash, request.add_inputs());
            needed.emplace(hash, values);
        }
        wire::BlobStore blobs(kMaxTensorBytes);
        LATHE_TRY_ASSIGN(const wire::Message answer, ask(message, needed, blobs, options.runSeconds, "a run of"));
        if (!answer.has_library_ran())
            return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
        const wire::LibraryRan& ran = answer.library_ran();
        if (ran.failure().code() != 0)
            return wire::errorOf(ran.failure());
        LibraryRun result;
        result.seconds = ran.seconds();
        if (wanted.returnInputs) {
            LATHE_TRY_ASSIGN(result.inputs, readTensors(inputs, ran.inputs(), blobs));
        }
        if (wanted.returnOutputs) {
            LATHE_TRY_ASSIGN(const std::vector<PortInfo> now, cutPorts(outputs, ran.shapes()));
            LATHE_TRY_ASSIGN(result.outputs, readTensors(now, ran.outputs(), blobs));
        }
        for (const auto& observed : ran.observed()) {
            LATHE_TRY_ASSIGN(const PortInfo port, readPort(observed.tensor()));
            if (std::find(wanted.observe.begin(), wanted.observe.end(), port.name) == wanted.observe.end())
                return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
            LATHE_TRY_ASSIGN(graph::HostTensor tensor, readTensor(port.type, observed.values(), blobs));
            result.observed.emplace_back(port.name, std::move(tensor));
        }
        return result;
    }

    Result<wire::LibraryTimes> time(const wire::LibraryPlan& plan, const LibraryRunRequest& first)
    {
        LATHE_TRY_ASSIGN(const LibraryRun once, run(first));
        wire::Message message;
        wire::TimeLibrary& request = *message.mutable_time_library();
        request.set_id(worker.nextId());
        request.set_number(plan.number);
        request.set_repeat(plan.repeat);
        request.set_min_repeat_ms(plan.minRepeatMs);
        request.set_max_seconds(plan.maxSeconds);
        request.set_run_seconds(once.seconds);
        request.set_whole_only(plan.wholeOnly);
        // Far more than the method takes: what does not end by then hangs.
        const double runs = std::max<double>(plan.repeat, kMostBenchRuns);
        const double oneRepeat = std::max((plan.number + 2) * once.seconds, plan.minRepeatMs * 1e-3);
        const double most = plan.maxSeconds > 0 ? plan.maxSeconds + 20 * oneRepeat : runs * oneRepeat;
        const double wanted = std::min(runs * oneRepeat, most);
        wire::BlobStore none;
        LATHE_TRY_ASSIGN(const wire::Message answer, ask(message, {}, none, options.runSeconds + 4 * wanted, "timing"));
        if (!answer.has_library_timed())
            return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
        const wire::LibraryTimed& timed = answer.library_timed();
        if (timed.failure().code() != 0)
            return wire::errorOf(timed.failure());
        wire::LibraryTimes times;
        times.runsNs.assign(timed.runs_ns().begin(), timed.runs_ns().end());
        for (const auto& row : timed.functions())
            times.functions.push_back({row.name(), row.kind(), row.ms(), row.min_ms()});
        times.callMs = timed.call_ms();
        times.controlNs = timed.control_ns();
        times.threads = threads;
        return times;
    }
};

LibraryClient::LibraryClient(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
LibraryClient::~LibraryClient() = default;

Result<std::unique_ptr<LibraryClient>> LibraryClient::open(const std::filesystem::path& file, const Options& options,
                                                           std::stop_token stop)
{
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, fmt::format("loading '{}' was stopped", file.string()));
    LATHE_TRY_ASSIGN(const std::string name, findLibraryName(file));
    LATHE_TRY_ASSIGN(const SharedObjectFacts facts, readSharedObject(file));
    const bool elsewhere = options.remote || options.lent != nullptr;
    if (!elsewhere && facts.machine != thisMachine()) // the loader would say that there is no such file
        return makeError(Errc::Incompatible,
                         say(Msg::LibraryOfMachine, file.string(),
                             facts.machine.empty() ? "another processor" : facts.machine, thisMachine()));
    std::optional<MappedFile> bytes;
    if (elsewhere) {
        LATHE_TRY_ASSIGN(bytes, Impl::readBytes(file));
    }
    std::unique_ptr<Impl> impl;
    if (options.remote) {
        LATHE_TRY_ASSIGN(impl, Impl::openRemote(file, options, stop));
    } else if (options.lent != nullptr) {
        impl = std::make_unique<Impl>(file, options, *options.lent, std::move(stop));
    } else {
        impl = std::make_unique<Impl>(file, options, std::move(stop));
    }
    impl->name = name;
    impl->bytes = std::move(bytes);
    if (elsewhere)
        impl->bytesHash = contentHash(impl->text());
    LATHE_TRY(impl->twice<std::monostate>([&] { return impl->load(); }));
    return std::unique_ptr<LibraryClient>(new LibraryClient(std::move(impl)));
}

const std::vector<PortInfo>& LibraryClient::inputs() const
{
    return m_impl->inputs;
}

const std::vector<PortInfo>& LibraryClient::outputs() const
{
    return m_impl->outputs;
}

const std::string& LibraryClient::variant() const
{
    return m_impl->variant;
}

const std::string& LibraryClient::device() const
{
    return m_impl->device;
}

const std::vector<LoadedVariant>& LibraryClient::variants() const
{
    return m_impl->variants;
}

unsigned LibraryClient::threads() const
{
    return m_impl->threads;
}

Result<LibraryRun> LibraryClient::runChecked(const LibraryRunRequest& request)
{
    return m_impl->twice<LibraryRun>([&] { return m_impl->run(request); });
}

Result<wire::LibraryTimes> LibraryClient::time(const wire::LibraryPlan& plan,
                                               const std::vector<graph::HostTensor>& inputs)
{
    LibraryRunRequest first;
    first.inputs = inputs;
    first.returnOutputs = false;
    LATHE_TRY(check(first));
    return m_impl->twice<wire::LibraryTimes>([&] { return m_impl->time(plan, first); });
}

} // namespace lathe::deploy
