#pragma once

#include "core/measure/batch.h"
#include "core/wire/hash_field.h"
#include "tests/support/fake_port.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A Batch of which a test plays all others.
namespace lathe::test::batch {

using namespace lathe::measure;

inline TaskDataPtr task()
{
    auto data = std::make_shared<TaskData>();
    data->dagJson = "{}";
    data->dagHash = contentHash(data->dagJson);
    return data;
}

/// What a device makes of its answer.
using Lie = std::function<void(wire::RunResult&)>;

/// Requests, workers that the test plays, and a clock that it sets.
class Scene
{
public:
    explicit Scene(std::size_t requests)
    {
        m_options.target = "fake";
        m_options.candidatesPerBuild = 1;
        m_options.buildTimeoutSeconds = 20;
        m_options.runTimeoutSeconds = 10;
        m_options.onQuiet = [this](bool quiet) { m_quiet = quiet; };
        for (std::size_t i = 0; i < requests; ++i) {
            MeasureRequest request;
            request.trial = std::string(31, '0') + "123456789abcdef"[i];
            request.task = m_task;
            request.ordinal = static_cast<std::int64_t>(i);
            m_requests.push_back(request);
        }
    }

    FakePort::Seen& addBuilder()
    {
        EndpointTraits traits;
        traits.sharesMachine = true;
        return add(m_builders, traits, false);
    }
    FakePort::Seen& addRunner(EndpointTraits traits)
    {
        traits.device = DeviceSpec{"fake", "0", ""};
        return add(m_runners, traits, true);
    }

    BatchOptions& options() { return m_options; }
    const std::vector<MeasureRequest>& requests() const { return m_requests; }
    Endpoint& runner(std::size_t i) { return *m_runners[i]; }

    Result<> turn()
    {
        if (!m_batch) {
            for (const auto& endpoint : m_builders)
                m_builderPointers.push_back(endpoint.get());
            for (const auto& endpoint : m_runners)
                m_runnerPointers.push_back(endpoint.get());
            m_lastRunner = m_runners.size() - 1;
            m_batch.emplace(m_options, m_builderPointers, m_runnerPointers, m_lastRunner, m_requests, m_onResult,
                            m_times, m_now);
        }
        // Workers that answer at once need more than one turn to be greeted and asked.
        for (int i = 0; i < 4; ++i)
            LATHE_TRY(m_batch->turn(m_now));
        return {};
    }
    void pass(Endpoint::Clock::duration time) { m_now += time; }
    Batch& batch() { return *m_batch; }
    Endpoint::Time now() const { return m_now; }
    void drop() { m_batch.reset(); }
    const MeasureTimes& times() const { return m_times; }
    bool quiet() const { return m_quiet; }
    const std::vector<std::pair<std::size_t, TrialResult>>& results() const { return m_results; }

    /// What a builder answers to a job.
    static void built(FakePort::Seen& builder, const wire::Message& job)
    {
        const std::string bytes = "code of " + job.build_job().candidates(0).name();
        const Hash128 hash = contentHash(bytes);
        wire::Message blob;
        wire::toWire(hash, blob.mutable_blob()->mutable_hash());
        blob.mutable_blob()->set_total(bytes.size());
        blob.mutable_blob()->set_data(bytes);
        builder.answer(blob);
        ArtifactDescriptor descriptor = {"fake", "fake", {}};
        wire::Message answer;
        wire::BuildResult& result = *answer.mutable_build_result();
        result.set_id(job.build_job().id());
        for (const auto& candidate : job.build_job().candidates()) {
            KernelInfo kernel;
            kernel.name = candidate.name();
            kernel.phases = {candidate.name() + "_p0"};
            auto& row = *result.add_candidates();
            row.set_stage(static_cast<std::uint32_t>(TrialStage::Done));
            row.set_kernel(static_cast<std::int32_t>(descriptor.kernels.size()));
            descriptor.kernels.push_back(std::move(kernel));
        }
        wire::toWire(hash, result.mutable_product());
        result.set_descriptor(toJson(descriptor).dump());
        builder.answer(answer);
    }
    static void ran(FakePort::Seen& runner, const wire::Message& job, double ns, const Lie& lie = {})
    {
        wire::Message answer;
        wire::RunResult& result = *answer.mutable_run_result();
        result.set_id(job.run_job().id());
        result.set_stage(static_cast<std::uint32_t>(TrialStage::Done));
        result.add_costs_ns(ns);
        result.set_verified(true);
        if (lie)
            lie(result);
        runner.answer(answer);
    }
    static void progress(FakePort::Seen& runner, const wire::Message& job, TrialStage stage = TrialStage::Run)
    {
        wire::Message note;
        note.mutable_progress()->set_id(job.run_job().id());
        note.mutable_progress()->set_stage(static_cast<std::uint32_t>(stage));
        note.mutable_progress()->set_what(stage == TrialStage::Build ? "compiling on the device"
                                                                     : "running the kernel");
        runner.answer(note);
    }

    /// All that a builder is asked for.
    void buildAll(FakePort::Seen& builder)
    {
        QVERIFY(turn());
        for (auto jobs = builder.takeJobs(); !jobs.empty(); jobs = builder.takeJobs()) {
            for (const wire::Message& job : jobs)
                built(builder, job);
            QVERIFY(turn());
        }
    }

private:
    FakePort::Seen& add(std::vector<std::unique_ptr<Endpoint>>& where, const EndpointTraits& traits, bool device)
    {
        const auto& seen = m_seen.emplace_back(std::make_shared<FakePort::Seen>());
        if (!device)
            seen->device.clear();
        where.push_back(std::make_unique<Endpoint>(std::make_unique<FakePort>(seen), traits));
        if (traits.supervised && !where.back()->waitUntilReady())
            qFatal("a fake does not open");
        return *seen;
    }

    TaskDataPtr m_task = task();
    BatchOptions m_options;
    std::vector<MeasureRequest> m_requests;
    std::vector<std::shared_ptr<FakePort::Seen>> m_seen;
    std::vector<std::unique_ptr<Endpoint>> m_builders, m_runners;
    std::vector<Endpoint*> m_builderPointers, m_runnerPointers;
    std::size_t m_lastRunner = 0;
    MeasureTimes m_times;
    bool m_quiet = false;
    std::vector<std::pair<std::size_t, TrialResult>> m_results;
    Measurer::ResultCallback m_onResult = [this](std::size_t index, TrialResult result) {
        m_results.emplace_back(index, std::move(result));
    };
    Endpoint::Time m_now = Endpoint::Clock::now();
    std::optional<Batch> m_batch; ///< ends first
};

inline EndpointTraits here()
{
    EndpointTraits traits;
    traits.sharesMachine = true;
    return traits;
}

inline EndpointTraits elsewhere(std::size_t capacity = 1)
{
    EndpointTraits traits;
    traits.supervised = true;
    traits.capacity = capacity;
    return traits;
}

} // namespace lathe::test::batch
