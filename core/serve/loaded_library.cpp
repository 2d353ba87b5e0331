#include "core/serve/loaded_library.h"

#include "core/runtime/index_map.h"
#include "core/runtime/lathe_model.h"
#include "core/support/element_count.h"
#include "core/support/message.h"
#include "core/wire/seeded.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace lathe::serve {

namespace {

LibraryPort libraryPort(const lathe_tensor_info& info)
{
    return {info.name, info.layout, static_cast<DType>(info.dtype), {info.shape, info.shape + info.rank}, {}};
}

} // namespace

std::size_t LibraryPort::bytes() const
{
    return static_cast<std::size_t>(elementCount(shape) * sizeOf(dtype));
}

struct LoadedLibrary::Impl
{
    void* handle = nullptr;
    std::string name;
    lathe_instance* instance = nullptr;
    std::vector<LibraryPort> inputs, outputs;
    std::vector<LibraryVariant> variants;
    std::string running; ///< the variant
    std::string place; ///< LoadedLibrary::device()

    decltype(&lathe_0_api_version) apiVersion = nullptr;
    decltype(&lathe_0_input_count) inputCount = nullptr;
    decltype(&lathe_0_output_count) outputCount = nullptr;
    decltype(&lathe_0_input_info) inputInfo = nullptr;
    decltype(&lathe_0_output_info) outputInfo = nullptr;
    decltype(&lathe_0_variant_count) variantCount = nullptr;
    decltype(&lathe_0_variant_target) variantTarget = nullptr;
    decltype(&lathe_0_variant_runs_here) variantRunsHere = nullptr;
    decltype(&lathe_0_variant) variant = nullptr;
    decltype(&lathe_0_device) device = nullptr;
    decltype(&lathe_0_create) create = nullptr;
    decltype(&lathe_0_destroy) destroy = nullptr;
    decltype(&lathe_0_input_buffer) inputBuffer = nullptr;
    decltype(&lathe_0_output_buffer) outputBuffer = nullptr;
    decltype(&lathe_0_run) run = nullptr;
    decltype(&lathe_0_last_error) lastError = nullptr;
    decltype(&lathe_0_threads) threads = nullptr;
    decltype(&lathe_0_set_profiling) setProfiling = nullptr;
    decltype(&lathe_0_profile_count) profileCount = nullptr;
    decltype(&lathe_0_profile_entry) profileEntry = nullptr;
    decltype(&lathe_0_output_dynamic_axes) outputDynamicAxes = nullptr;
    decltype(&lathe_0_output_shape) outputShape = nullptr;
    decltype(&lathe_0_run_chain) runChain = nullptr;
    decltype(&lathe_0_set_observer) setObserver = nullptr;

    ~Impl()
    {
        if (instance != nullptr)
            destroy(instance);
        if (handle != nullptr)
            dlclose(handle);
    }

    template<typename F>
    bool find(F& function, const char* suffix)
    {
        void* const symbol = dlsym(handle, fmt::format("lathe_{}_{}", name, suffix).c_str());
        std::memcpy(&function, &symbol, sizeof function);
        return symbol != nullptr;
    }
    bool findAll()
    {
        return find(inputCount, "input_count") && find(outputCount, "output_count") && find(inputInfo, "input_info")
               && find(outputInfo, "output_info") && find(create, "create") && find(destroy, "destroy")
               && find(inputBuffer, "input_buffer") && find(outputBuffer, "output_buffer") && find(run, "run")
               && find(lastError, "last_error") && find(threads, "threads") && find(setProfiling, "set_profiling")
               && find(profileCount, "profile_count") && find(profileEntry, "profile_entry")
               && find(outputDynamicAxes, "output_dynamic_axes") && find(outputShape, "output_shape")
               && find(runChain, "run_chain") && find(setObserver, "set_observer")
               && find(variantCount, "variant_count") && find(variantTarget, "variant_target")
               && find(variantRunsHere, "variant_runs_here") && find(variant, "variant") && find(device, "device");
    }
    Error failure(const char* what) const
    {
        return makeError(Errc::Internal, fmt::format("{}: {}", what, lastError(instance)));
    }
};

LoadedLibrary::LoadedLibrary(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
LoadedLibrary::~LoadedLibrary() = default;

Result<std::unique_ptr<LoadedLibrary>> LoadedLibrary::open(const std::filesystem::path& file, const std::string& name,
                                                           const Options& options)
{
    auto impl = std::make_unique<Impl>();
    impl->name = name;
    impl->handle = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (impl->handle == nullptr)
        return makeError(Errc::Incompatible, say(Msg::LibraryNotLoaded, file.string(), dlerror()));
    if (!impl->find(impl->apiVersion, "api_version") || impl->apiVersion() != LATHE_MODEL_API_VERSION
        || !impl->findAll())
        return makeError(Errc::Incompatible, say(Msg::LibraryOfVersion, file.string()));
    for (std::uint32_t i = 0; i < impl->variantCount(); ++i)
        impl->variants.push_back({impl->variantTarget(i), impl->variantRunsHere(i) != 0});
    std::string variant = options.variant;
    if (variant.empty() && !options.deviceKind.empty()) {
        const auto found = std::ranges::find_if(impl->variants, [&options](const LibraryVariant& one) {
            return one.runsHere && one.target.substr(0, one.target.find(' ')) == options.deviceKind;
        });
        if (found == impl->variants.end())
            return makeError(Errc::Incompatible,
                             say(Msg::LibraryHasNoKind, file.string(), options.deviceKind, options.device));
        variant = found->target;
    }
    lathe_options wanted{};
    wanted.struct_size = sizeof wanted;
    wanted.threads = options.threads;
    wanted.keep_weights_mapped = options.mapWeights ? 1 : 0;
    wanted.variant = variant.empty() ? nullptr : variant.c_str();
    wanted.device = options.device.empty() ? nullptr : options.device.c_str();
    char error[512] = {};
    impl->instance = impl->create(&wanted, error, sizeof error);
    if (impl->instance == nullptr)
        return makeError(Errc::Internal, fmt::format("'{}' cannot be set up: {}", file.string(), error));
    impl->running = impl->variant(impl->instance);
    impl->place = impl->device(impl->instance);
    lathe_tensor_info info;
    for (std::uint32_t i = 0; i < impl->inputCount(); ++i)
        if (impl->inputInfo(i, &info) == LATHE_OK)
            impl->inputs.push_back(libraryPort(info));
    for (std::uint32_t i = 0; i < impl->outputCount(); ++i)
        if (impl->outputInfo(i, &info) == LATHE_OK) {
            impl->outputs.push_back(libraryPort(info));
            for (std::int32_t d = 0; d < info.rank; ++d)
                if ((impl->outputDynamicAxes(i) >> d & 1) != 0)
                    impl->outputs.back().dynamicAxes.push_back(d);
        }
    return std::unique_ptr<LoadedLibrary>(new LoadedLibrary(std::move(impl)));
}

const std::vector<LibraryPort>& LoadedLibrary::inputs() const
{
    return m_impl->inputs;
}

const std::vector<LibraryPort>& LoadedLibrary::outputs() const
{
    return m_impl->outputs;
}

const std::string& LoadedLibrary::variant() const
{
    return m_impl->running;
}

const std::string& LoadedLibrary::device() const
{
    return m_impl->place;
}

const std::vector<LibraryVariant>& LoadedLibrary::variants() const
{
    return m_impl->variants;
}

unsigned LoadedLibrary::threads() const
{
    return m_impl->threads(m_impl->instance);
}

Result<> LoadedLibrary::setInput(std::size_t index, std::span<const std::byte> values)
{
    if (index >= m_impl->inputs.size())
        return makeError(Errc::InvalidArgument,
                         fmt::format("there is no input {}, the network has {}", index, m_impl->inputs.size()));
    const LibraryPort& port = m_impl->inputs[index];
    if (values.size() != port.bytes())
        return makeError(Errc::InvalidArgument, fmt::format("input '{}' takes {} bytes, {} were given", port.name,
                                                            port.bytes(), values.size()));
    void* const buffer = m_impl->inputBuffer(m_impl->instance, static_cast<std::uint32_t>(index));
    if (buffer == nullptr)
        return m_impl->failure("no input buffer");
    std::memcpy(buffer, values.data(), values.size());
    return {};
}

Result<> LoadedLibrary::fillInputs(std::uint64_t seed)
{
    for (std::size_t i = 0; i < m_impl->inputs.size(); ++i) {
        std::vector<std::byte> values(m_impl->inputs[i].bytes());
        wire::fillSeeded(wire::inputSeed(seed, i), m_impl->inputs[i].dtype, {}, values);
        LATHE_TRY(setInput(i, values));
    }
    return {};
}

std::span<const std::byte> LoadedLibrary::input(std::size_t index) const
{
    const void* const buffer = m_impl->inputBuffer(m_impl->instance, static_cast<std::uint32_t>(index));
    if (buffer == nullptr)
        return {};
    return {static_cast<const std::byte*>(buffer), m_impl->inputs[index].bytes()};
}

std::span<const std::byte> LoadedLibrary::output(std::size_t index) const
{
    const void* const buffer = m_impl->outputBuffer(m_impl->instance, static_cast<std::uint32_t>(index));
    if (buffer == nullptr)
        return {};
    LibraryPort now = m_impl->outputs[index];
    now.shape = outputShape(index);
    return {static_cast<const std::byte*>(buffer), now.bytes()};
}

std::vector<std::int64_t> LoadedLibrary::outputShape(std::size_t index) const
{
    std::vector<std::int64_t> shape(kMaxRank);
    m_impl->outputShape(m_impl->instance, static_cast<std::uint32_t>(index), shape.data());
    shape.resize(m_impl->outputs[index].shape.size());
    return shape;
}

Result<> LoadedLibrary::run()
{
    if (m_impl->run(m_impl->instance) != LATHE_OK)
        return m_impl->failure("the network did not run");
    return {};
}

Result<> LoadedLibrary::observe(const std::set<std::string, std::less<>>& wanted, const Observer& see)
{
    struct Again
    {
        LibraryPort tensor;
        std::vector<std::byte> values;
    };
    struct Watch
    {
        const std::set<std::string, std::less<>>& wanted;
        const Observer& see;
        std::set<std::string> seen;
        std::map<std::string, Again> again; // kept here, since only the last one counts
    };
    Watch watch{wanted, see, {}, {}};
    m_impl->setObserver(
        m_impl->instance,
        [](void* user, std::uint32_t, const char*, const lathe_tensor_info* tensor, const void* data) {
            auto& known = *static_cast<Watch*>(user);
            const LibraryPort port = libraryPort(*tensor);
            if (!known.wanted.contains(port.name))
                return;
            const std::span values(static_cast<const std::byte*>(data), port.bytes());
            if (known.seen.insert(port.name).second)
                known.see(port, values);
            else
                known.again[port.name] = {port, {values.begin(), values.end()}};
        },
        &watch);
    auto result = run();
    m_impl->setObserver(m_impl->instance, nullptr, nullptr);
    for (const auto& [name, last] : watch.again)
        if (result)
            see(last.tensor, last.values);
    return result;
}

Result<std::vector<double>> LoadedLibrary::time(const runtime::RepeatPlan& plan)
{
    std::vector<double> results(plan.repeat);
    const auto call = [](void* context) {
        const Impl& impl = *static_cast<const Impl*>(context);
        return impl.run(impl.instance);
    };
    if (runtime::timeRepeats(plan, call, m_impl.get(), results.data()) != 0)
        return m_impl->failure("the network did not run");
    return results;
}

Result<> LoadedLibrary::timeChain(int sweeps, std::vector<ChainRow>& rows)
{
    lathe_instance* const instance = m_impl->instance;
    const std::uint32_t count = m_impl->profileCount(instance);
    if (rows.empty()) {
        LATHE_TRY(run()); // buffers hold what they hold in a run
        for (std::uint32_t i = 0; i < count; ++i) {
            lathe_profile_entry entry{};
            m_impl->profileEntry(instance, i, &entry);
            rows.push_back({entry.name, entry.kind, {}});
        }
    }
    for (int half = 0; half < 2 * sweeps; ++half) {
        const auto timed = static_cast<std::uint32_t>(half % 2); // instructions timed, timed + 2, ...
        m_impl->setProfiling(instance, 1);
        std::int32_t code = LATHE_OK;
        for (std::uint32_t i = timed; count > 0 && i <= count && code == LATHE_OK; i += 2) // the last may have no pair
            code = m_impl->runChain(instance, i > 0 ? i - 1 : 0, std::min(i, count - 1));
        for (std::uint32_t i = timed; i < count && code == LATHE_OK; i += 2) {
            lathe_profile_entry entry{};
            code = m_impl->profileEntry(instance, i, &entry);
            rows[i].ms.push_back(static_cast<double>(entry.total_ns) * 1e-6);
        }
        m_impl->setProfiling(instance, 0);
        if (code != LATHE_OK)
            return m_impl->failure("the network did not run");
    }
    return {};
}

} // namespace lathe::serve
