#include "core/serve/trial_run.h"

#include "core/runtime/codes.h"
#include "core/runtime/index_map.h"
#include "core/support/deadline.h"
#include "core/support/message.h"
#include "core/support/processor_time.h"
#include "core/wire/artifact.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "core/wire/seeded.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace lathe::serve {

namespace {

constexpr std::size_t kModulesKept = 4;
constexpr std::size_t kResidentBytes = std::size_t(96) << 20;
constexpr std::int64_t kMaxBufferBytes = std::int64_t(1) << 36;
constexpr std::uint64_t kMaxRotatedBytes = std::uint64_t(256) << 20;
constexpr std::uint32_t kMaxNumber = 1u << 24;

using Clock = std::chrono::steady_clock;

/// By the clock and on processors, since it was made or asked last.
class Lap
{
public:
    struct Time
    {
        double ms = 0, processorMs = 0;
    };
    Time next()
    {
        const auto now = Clock::now();
        const double processor = processorSeconds();
        const Time time{std::chrono::duration<double, std::milli>(now - m_at).count(), 1e3 * (processor - m_processor)};
        m_at = now;
        m_processor = processor;
        return time;
    }

private:
    Clock::time_point m_at = Clock::now();
    double m_processor = processorSeconds();
};

std::string indexText(const IndexMap& map, std::uint64_t linear)
{
    std::string text;
    std::uint64_t rest = linear;
    for (int d = map.logicalRank - 1; d >= 0; --d) {
        const auto extent = static_cast<std::uint64_t>(map.logicalShape[d]);
        text.insert(0, (d ? "," : "") + std::to_string(rest % extent));
        rest /= extent;
    }
    return "[" + text + "]";
}

std::int64_t offsetOf(const IndexMap& map, std::uint64_t linear)
{
    std::int64_t logical[kMaxRank] = {};
    for (int d = map.logicalRank - 1; d >= 0; --d) {
        const auto extent = static_cast<std::uint64_t>(map.logicalShape[d]);
        logical[d] = static_cast<std::int64_t>(linear % extent);
        linear /= extent;
    }
    return map.offset(logical);
}

/// What a device compiles only when it is run (device_abi.h, run) is the build, too, if that goes wrong.
void fail(wire::RunResult& result, std::uint32_t stage, const Error& error)
{
    result.set_stage(error.code == Errc::BuildFailed ? std::uint32_t{LATHE_STAGE_BUILD} : stage);
    wire::setFailure(result.mutable_failure(), error);
}

/// Largest deviation and where it is, over points of one output.
class Comparison
{
public:
    void add(std::uint64_t point, double got, double expected)
    {
        m_scale = std::max(m_scale, std::isfinite(expected) ? std::fabs(expected) : 0.0);
        double difference = std::fabs(got - expected);
        if (got == expected || (std::isnan(got) && std::isnan(expected)))
            difference = 0;
        else if (!std::isfinite(difference))
            difference = std::numeric_limits<double>::infinity();
        if (difference > m_worst) {
            m_worst = difference;
            m_point = point;
            m_got = got;
            m_expected = expected;
        }
    }
    double relativeError() const { return m_scale > 0 ? m_worst / m_scale : m_worst; }
    Error error(const ArgSpec& spec, double tolerance) const
    {
        return makeError(Errc::WrongAnswer, say(Msg::OutputDiffers, spec.name, m_got, indexText(spec.map, m_point),
                                                m_expected, relativeError(), tolerance));
    }

private:
    double m_scale = 0;
    double m_worst = 0;
    std::uint64_t m_point = 0;
    double m_got = 0;
    double m_expected = 0;
};

struct Timed
{
    double total = 0; ///< ns
    double mean = 0; ///< ns per run
    std::uint32_t runs = 0;
};

} // namespace

struct TrialRunner::Module
{
    Hash128 blob;
    Hash128 descriptorHash;
    ArtifactDescriptor descriptor;
    DeviceModule loaded;
};

struct TrialRunner::Resident
{
    Inputs::Source source;
    IndexMap map;
    std::shared_ptr<DeviceBuffer> buffer;
};

struct TrialRunner::Plan
{
    std::vector<ArgSpec> specs;
    std::vector<std::shared_ptr<DeviceBuffer>> buffers;
    std::vector<std::vector<void*>> pointers;
    std::vector<LatheLaunch> launches;
};

TrialRunner::TrialRunner(std::shared_ptr<Device> device)
    : m_device(std::move(device))
{
}
TrialRunner::~TrialRunner() = default;

std::vector<Hash128> TrialRunner::missing(const wire::RunJob& job, wire::BlobStore& blobs)
{
    std::vector<Hash128> hashes;
    const auto need = [&](const wire::Hash& hash) {
        const Hash128 value = wire::fromWire(hash);
        if (!blobs.find(value) && std::find(hashes.begin(), hashes.end(), value) == hashes.end())
            hashes.push_back(value);
    };
    for (const auto& artifact : job.artifacts())
        need(artifact.blob());
    for (const auto& buffer : job.buffers())
        if (buffer.fill() == wire::Buffer::BLOB)
            need(buffer.blob());
    for (const auto& check : job.checks())
        if (check.has_reference())
            need(check.reference());
    return hashes;
}

Result<TrialRunner::Module*> TrialRunner::load(const Hash128& hash, const wire::Blob& blob,
                                               const std::string& descriptor)
{
    const Hash128 descriptorHash = contentHash(descriptor);
    const auto found = std::find_if(m_modules.begin(), m_modules.end(), [&](const Module& m) {
        return m.blob == hash && m.descriptorHash == descriptorHash;
    });
    if (found != m_modules.end()) {
        m_modules.splice(m_modules.begin(), m_modules, found);
        return &m_modules.front();
    }
    if (!blob)
        return makeError(Errc::NotFound, fmt::format("the artifact {} did not arrive", hash.hex()));
    Module module;
    module.blob = hash;
    module.descriptorHash = descriptorHash;
    const auto json = nlohmann::json::parse(descriptor, nullptr, false);
    LATHE_TRY_ASSIGN(module.descriptor, artifactDescriptorFromJson(json));
    LATHE_TRY_ASSIGN(module.loaded, m_device->load(std::as_bytes(std::span(*blob)), descriptor));
    m_modules.push_front(std::move(module));
    return &m_modules.front();
}

Result<std::shared_ptr<DeviceBuffer>> TrialRunner::allocate(std::size_t bytes)
{
    auto made = m_device->allocate(bytes);
    if (!made && !m_resident.empty()) { // they may be in the way
        m_resident.clear();
        made = m_device->allocate(bytes);
    }
    if (!made)
        return std::move(made).error();
    return std::make_shared<DeviceBuffer>(*std::move(made));
}

Result<std::shared_ptr<DeviceBuffer>> TrialRunner::filled(const wire::Buffer& buffer, const ArgSpec& spec,
                                                          wire::BlobStore& blobs)
{
    const auto bytes = static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype));
    const auto source = spec.role == ArgRole::Constant ? Inputs::sourceOf(buffer, spec.dtype) : std::nullopt;
    if (source) {
        const auto found = std::find_if(m_resident.begin(), m_resident.end(),
                                        [&](const Resident& r) { return r.source == *source && r.map == spec.map; });
        if (found != m_resident.end() && found->buffer.use_count() == 1) { // a job's buffers are not one and the same
            m_resident.splice(m_resident.begin(), m_resident, found);
            m_residentUsed = true;
            return m_resident.front().buffer;
        }
    }
    LATHE_TRY_ASSIGN(std::shared_ptr<DeviceBuffer> made, allocate(bytes));
    LATHE_TRY_ASSIGN(const auto values, m_inputs.bytesOf(buffer, spec, blobs));
    LATHE_TRY(m_device->copyIn(*made, values));
    if (source && bytes <= kResidentBytes) {
        m_resident.push_front({*source, spec.map, made});
        std::size_t kept = 0;
        for (auto it = m_resident.begin(); it != m_resident.end();) {
            kept += it->buffer->bytes();
            it = kept > kResidentBytes ? m_resident.erase(it) : std::next(it);
        }
    }
    return made;
}

Result<TrialRunner::Plan> TrialRunner::prepare(const wire::RunJob& job, wire::BlobStore& blobs)
{
    Plan plan;
    if (static_cast<std::size_t>(job.artifacts_size()) > kModulesKept)
        return makeError(Errc::InvalidArgument, fmt::format("a job may use {} artifacts, this one has {}", kModulesKept,
                                                            job.artifacts_size()));
    std::vector<Module*> modules; // a list's elements stay in place, and no more are loaded than are kept
    for (const auto& artifact : job.artifacts()) {
        const Hash128 hash = wire::fromWire(artifact.blob());
        LATHE_TRY_ASSIGN(Module * module, load(hash, blobs.find(hash), artifact.descriptor()));
        modules.push_back(module);
    }
    while (m_modules.size() > kModulesKept)
        m_modules.pop_back();
    for (const auto& buffer : job.buffers()) {
        const auto json = nlohmann::json::parse(buffer.spec(), nullptr, false);
        LATHE_TRY_ASSIGN(ArgSpec spec, argSpecFromJson(json));
        const std::int64_t bytes = spec.map.elementCount() * sizeOf(spec.dtype);
        if (bytes > kMaxBufferBytes)
            return makeError(Errc::InvalidArgument,
                             fmt::format("the buffer \"{}\" of {} bytes is too large", spec.name, bytes));
        LATHE_TRY_ASSIGN(std::shared_ptr<DeviceBuffer> made, filled(buffer, spec, blobs));
        plan.specs.push_back(std::move(spec));
        plan.buffers.push_back(std::move(made));
    }
    if (job.launches_size() == 0)
        return makeError(Errc::InvalidArgument, "the job launches nothing");
    for (const auto& launch : job.launches()) {
        if (launch.artifact() >= modules.size())
            return makeError(Errc::InvalidArgument, "a launch names an artifact that the job does not have");
        const auto& kernels = modules[launch.artifact()]->descriptor.kernels;
        if (launch.kernel() >= kernels.size())
            return makeError(Errc::InvalidArgument, "a launch names a kernel that its artifact does not have");
        const KernelInfo& kernel = kernels[launch.kernel()];
        if (static_cast<std::size_t>(launch.buffers_size()) != kernel.parameters.size())
            return makeError(Errc::InvalidArgument,
                             fmt::format("kernel {} has {} parameters, its launch {}", kernel.name,
                                         kernel.parameters.size(), launch.buffers_size()));
        std::vector<void*> pointers;
        for (int i = 0; i < launch.buffers_size(); ++i) {
            const std::uint32_t b = launch.buffers(i);
            const ArgSpec& want = kernel.parameters[static_cast<std::size_t>(i)];
            if (b >= plan.specs.size() || plan.specs[b].dtype != want.dtype || plan.specs[b].map != want.map)
                return makeError(Errc::InvalidArgument,
                                 fmt::format("the buffer given for parameter \"{}\" of kernel {} has "
                                             "another shape, layout or type",
                                             want.name, kernel.name));
            pointers.push_back(plan.buffers[b]->get());
        }
        plan.pointers.push_back(std::move(pointers));
        LatheLaunch out = {};
        out.module = modules[launch.artifact()]->loaded.get();
        out.kernel = launch.kernel();
        out.buffers = plan.pointers.back().data();
        out.bufferCount = static_cast<std::uint32_t>(plan.pointers.back().size());
        out.timed = launch.timed() ? 1 : 0;
        plan.launches.push_back(out);
    }
    return plan;
}

/// What of the kernels to be launched is not compiled yet.
Result<> TrialRunner::build(const Plan& plan)
{
    for (const LatheLaunch& launch : plan.launches)
        LATHE_TRY(m_device->build(launch.module, launch.kernel));
    return {};
}

Result<std::string> TrialRunner::plainValues(const Plan& plan, std::size_t buffer)
{
    const ArgSpec& spec = plan.specs[buffer];
    std::string physical(plan.buffers[buffer]->bytes(), '\0');
    LATHE_TRY(m_device->copyOut(std::as_writable_bytes(std::span(physical)), *plan.buffers[buffer]));
    std::string plain(static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype)), '\0');
    transformLayout(spec.map, physical.data(), IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                    plain.data(), spec.dtype);
    return plain;
}

Result<double> TrialRunner::check(const wire::RunJob& job, const Plan& plan, wire::BlobStore& blobs)
{
    double worst = 0;
    for (const auto& check : job.checks()) {
        if (check.buffer() >= plan.specs.size() || check.points_size() != check.values_size())
            return makeError(Errc::InvalidArgument,
                             "a check names no buffer of the job, or has not one value for each point");
        const ArgSpec& spec = plan.specs[check.buffer()];
        const auto count = static_cast<std::uint64_t>(spec.map.logicalCount());
        Comparison comparison;
        if (check.has_reference()) {
            const wire::Blob reference = blobs.find(wire::fromWire(check.reference()));
            LATHE_TRY_ASSIGN(const std::string values, plainValues(plan, check.buffer()));
            if (!reference || reference->size() != values.size())
                return makeError(Errc::InvalidArgument,
                                 fmt::format("the reference for \"{}\" has another size", spec.name));
            for (std::uint64_t i = 0; i < count; ++i)
                comparison.add(i, wire::readElement(values.data(), static_cast<std::int64_t>(i), spec.dtype),
                               wire::readElement(reference->data(), static_cast<std::int64_t>(i), spec.dtype));
        }
        if (check.points_size() > 0) {
            std::string physical(plan.buffers[check.buffer()]->bytes(), '\0');
            LATHE_TRY(m_device->copyOut(std::as_writable_bytes(std::span(physical)), *plan.buffers[check.buffer()]));
            for (int i = 0; i < check.points_size(); ++i) {
                if (check.points(i) >= count)
                    return makeError(Errc::InvalidArgument,
                                     fmt::format("a check asks for a point outside \"{}\"", spec.name));
                comparison.add(check.points(i),
                               wire::readElement(physical.data(), offsetOf(spec.map, check.points(i)), spec.dtype),
                               check.values(i));
            }
        }
        if (!(comparison.relativeError() <= check.tolerance()))
            return comparison.error(spec, check.tolerance());
        worst = std::max(worst, comparison.relativeError());
    }
    return worst;
}

Result<bool> TrialRunner::time(const wire::RunJob& job, const Plan& plan, wire::RunResult& result,
                               const std::function<bool()>& checkAgain)
{
    const wire::RunPlan& wanted = job.plan();
    const std::uint64_t cold = wanted.cold_bytes();
    // Between two runs with cold memory there is no steady state to wait for: one run is one sample.
    const bool steady = !cold && wanted.min_repeat_ms() > 0; // false for not-a-number, which no total would ever reach
    const double minRepeatNs = steady ? std::min(wanted.min_repeat_ms(), 60'000.0) * 1e6 : 0;
    std::uint32_t number = cold ? 1 : std::clamp<std::uint32_t>(wanted.number(), 1, kMaxNumber);
    std::span<const LatheLaunch> launches = plan.launches;
    std::uint32_t copies = 1; // of the job in `launches`
    if (wanted.rotate_bytes() > 0 && plan.launches.size() == 1) {
        const std::uint64_t bytes = std::min(wanted.rotate_bytes(), kMaxRotatedBytes);
        std::vector<Rotation::Parameter> parameters;
        for (void* pointer : plan.pointers[0])
            for (std::size_t b = 0; b < plan.buffers.size(); ++b)
                if (plan.buffers[b]->get() == pointer) {
                    parameters.push_back({plan.specs[b], plan.buffers[b].get()});
                    break;
                }
        LATHE_TRY_ASSIGN(launches, m_rotation.around(*m_device, plan.launches[0], parameters, bytes));
        copies = static_cast<std::uint32_t>(launches.size());
    }
    /// Mean of at least `runs` runs; whole turns of the copies.
    const auto measure = [&](std::uint32_t runs) -> Result<Timed> {
        const std::uint32_t turns = (runs + copies - 1) / copies;
        LATHE_TRY_ASSIGN(const LatheTiming timing, m_device->run(launches, turns, cold));
        const auto total = static_cast<double>(timing.nanoseconds);
        return Timed{total, total / (static_cast<double>(turns) * copies), turns * copies};
    };
    const auto measureSome = [&](std::span<const LatheLaunch> some) -> Result<Timed> {
        LATHE_TRY_ASSIGN(const LatheTiming timing, m_device->run(some, 1, cold));
        const auto total = static_cast<double>(timing.nanoseconds);
        return Timed{total, total / static_cast<double>(some.size()), static_cast<std::uint32_t>(some.size())};
    };
    const auto stopEarly = [&](const Timed& timed) {
        result.add_costs_ns(timed.mean);
        result.set_stopped_early(true);
        result.set_number(timed.runs);
    };
    // What is looked at afterwards comes from the job's own buffers.
    bool looked = false;
    const auto restore = [&]() -> Result<bool> {
        if (copies > 1 && (!looked || job.fetch_size() > 0))
            LATHE_TRY(m_device->run(plan.launches, 1, 0));
        return looked;
    };
    double firstNs = 0;
    if (wanted.stop_above_ns() > 0 || wanted.settle_above_ns() > 0) {
        std::uint32_t looks = 0;
        const auto look = [&]() -> Result<double> {
            LATHE_TRY_ASSIGN(const LatheTiming timing, m_device->run(plan.launches, 1, cold));
            ++looks;
            return static_cast<double>(timing.nanoseconds);
        };
        LATHE_TRY_ASSIGN(firstNs, look());
        if (wanted.stop_above_ns() > 0 && firstNs > wanted.stop_above_ns()) {
            // Once more: someone else may have had a core meanwhile.
            LATHE_TRY_ASSIGN(const double secondNs, look());
            firstNs = std::min(firstNs, secondNs);
            if (firstNs > wanted.stop_above_ns()) {
                stopEarly({firstNs, firstNs, looks});
                return false;
            }
        }
        // This was the second run. Now is the time: the others are with the copies.
        if (copies > 1) {
            looked = true;
            if (!checkAgain())
                return true;
        }
    }
    // Who is clearly slower than the best over a few milliseconds does not get the rest.
    constexpr double kGlanceNs = 3e6;
    if (wanted.settle_above_ns() > 0 && minRepeatNs > 2 * kGlanceNs) {
        const double runs = std::clamp(kGlanceNs / std::max(firstNs, wanted.settle_above_ns()), 2.0,
                                       static_cast<double>(kMaxNumber));
        const auto few = static_cast<std::uint32_t>(runs) < 2 * copies
                             ? std::min(static_cast<std::uint32_t>(runs), copies - 1)
                             : copies;
        LATHE_TRY_ASSIGN(const Timed glance, few > 0 && few < copies ? measureSome(m_rotation.next(few))
                                                                     : measure(static_cast<std::uint32_t>(runs)));
        if (glance.mean > wanted.settle_above_ns()) {
            stopEarly(glance);
            return restore();
        }
    }
    const std::uint32_t repeat = std::clamp<std::uint32_t>(wanted.repeat(), 1, 10'000);
    for (std::uint32_t r = 0; r < repeat; ++r) {
        // What is missing is added: nothing that was measured is thrown away.
        Timed all;
        // A slow kernel has run long enough before it was with all copies, which may take seconds.
        if (number < copies && minRepeatNs > 0) {
            LATHE_TRY_ASSIGN(const Timed few, measureSome(m_rotation.next(number)));
            if (few.total >= minRepeatNs)
                all = few;
        }
        for (std::uint32_t more = all.runs > 0 ? 0 : number; more > 0;) {
            LATHE_TRY_ASSIGN(const Timed timed, measure(more));
            all = {all.total + timed.total, (all.total + timed.total) / (all.runs + timed.runs), all.runs + timed.runs};
            const double missing = all.total < minRepeatNs ? (minRepeatNs - all.total) / std::max(all.mean, 1e-3) + 1
                                                           : 0;
            more = static_cast<std::uint32_t>(std::min<double>(missing, kMaxNumber - std::min(all.runs, kMaxNumber)));
        }
        result.add_costs_ns(all.mean);
        number = all.runs;
        if (wanted.cooldown_ms() > 0)
            std::this_thread::sleep_for(
                std::chrono::duration<double, std::milli>(std::min(wanted.cooldown_ms(), 60'000.0)));
    }
    result.set_number(number);
    return restore();
}

wire::RunResult TrialRunner::run(const wire::RunJob& job, wire::BlobStore& blobs, const Progress& progress)
{
    m_residentUsed = false;
    wire::RunResult result = runOnce(job, blobs, progress);
    if (result.failure().code() == 0)
        return result;
    // A kernel before may have written where it should not: whoever fails must not do so by what that one left behind.
    const bool again = m_residentUsed && result.failure().code() == static_cast<std::uint32_t>(Errc::WrongAnswer);
    m_resident.clear();
    return again ? runOnce(job, blobs, progress) : result;
}

wire::RunResult TrialRunner::runOnce(const wire::RunJob& job, wire::BlobStore& blobs, const Progress& progress)
{
    wire::RunResult result;
    result.set_id(job.id());
    *result.mutable_trial() = job.trial();
    result.set_stage(LATHE_STAGE_DONE);
    Lap lap;
    progress(LATHE_STAGE_LOAD, "loading the artifact");
    auto plan = prepare(job, blobs);
    const Lap::Time prepared = lap.next();
    result.set_prepare_ms(prepared.ms);
    result.set_prepare_processor_ms(prepared.processorMs);
    if (!plan) {
        fail(result, LATHE_STAGE_LOAD, plan.error());
        return result;
    }
    if (m_device->builds()) {
        progress(LATHE_STAGE_BUILD, "compiling on the device");
        const Result<> built = build(*plan);
        const Lap::Time time = lap.next();
        result.set_build_ms(time.ms);
        result.set_build_processor_ms(time.processorMs);
        if (!built) {
            fail(result, LATHE_STAGE_BUILD, built.error());
            return result;
        }
    }
    progress(LATHE_STAGE_RUN, "running the kernel");
    const auto ran = [&] {
        const Lap::Time time = lap.next();
        result.set_measure_ms(result.measure_ms() + time.ms);
        result.set_measure_processor_ms(result.measure_processor_ms() + time.processorMs);
    };
    const auto checked = [&](bool computed) {
        ran();
        if (job.checks_size() == 0 || !computed)
            return true;
        progress(LATHE_STAGE_VERIFY, "checking the outputs");
        const auto worst = check(job, *plan, blobs);
        const Lap::Time time = lap.next();
        result.set_check_ms(result.check_ms() + time.ms);
        result.set_check_processor_ms(result.check_processor_ms() + time.processorMs);
        if (!worst) {
            fail(result, LATHE_STAGE_VERIFY, worst.error());
            return false;
        }
        result.set_verified(true);
        result.set_max_rel_error(std::max(result.max_rel_error(), *worst));
        progress(LATHE_STAGE_RUN, "timing the kernel");
        return true;
    };
    const auto warmUp = m_device->run(plan->launches, 1, 0);
    if (!warmUp) {
        fail(result, LATHE_STAGE_RUN, warmUp.error());
        return result;
    }
    const bool computed = (warmUp->flags & LATHE_TIMING_NOT_COMPUTED) == 0;
    result.set_clock(warmUp->clock);
    if (!checked(computed))
        return result;
    // Checked once more: a kernel that adds onto what the run before left behind is right the first time only.
    const auto timed = time(job, *plan, result, [&] { return checked(computed); });
    if (timed && *timed)
        ran();
    if (!timed)
        fail(result, LATHE_STAGE_RUN, timed.error());
    else if (*timed ? result.failure().code() == 0 : checked(computed))
        for (const std::uint32_t buffer : job.fetch()) {
            if (buffer >= plan->specs.size() || !computed) {
                fail(result, LATHE_STAGE_RUN, makeError(Errc::InvalidArgument, "a buffer to fetch was not computed"));
                break;
            }
            auto values = plainValues(*plan, buffer);
            if (!values) {
                fail(result, LATHE_STAGE_RUN, values.error());
                break;
            }
            wire::toWire(blobs.put(*std::move(values)), result.add_fetched());
        }
    if (result.failure().code() != 0) {
        result.set_verified(false);
        result.clear_costs_ns();
    }
    return result;
}

} // namespace lathe::serve
