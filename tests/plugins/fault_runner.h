#pragma once

#include "core/record/record.h"
#include "core/serve/child_runner.h"
#include "core/support/deadline.h"
#include "core/wire/artifact.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/process_port.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <poll.h>

#include <csignal>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

/// Of a kernel on two vectors, x and y, in one launch of 64 threads.
inline KernelInfo oneLaunchInfo()
{
    KernelInfo info;
    info.name = "k";
    info.form = KernelForm::Launches;
    const std::int64_t floats = 64;
    const IndexMap vector = IndexMap::plain(&floats, 1);
    info.parameters = {{"x", ArgRole::Input, DType::F32, vector}, {"y", ArgRole::Output, DType::F32, vector}};
    info.launches = {{"k_0", {0, 1}, {4, 1, 1}, {16, 1, 1}, 0}};
    return info;
}

/// A runner process on this machine's first device of a kind, under its supervisor, for kernels that go wrong.
class FaultRunner
{
public:
    explicit FaultRunner(const char* kind)
    {
        std::signal(SIGPIPE, SIG_IGN);
        wire::Message open;
        open.mutable_open_device()->set_kind(kind);
        must(m_runner.take(open, serve::ChildRunner::Clock::now()));
        const wire::Message opened = answer();
        if (opened.device_opened().failure().code() != 0)
            qFatal("%s", opened.device_opened().failure().text().c_str());
        m_device = nlohmann::json::parse(opened.device_opened().json());
    }
    virtual ~FaultRunner() = default;
    FaultRunner(const FaultRunner&) = delete;
    FaultRunner& operator=(const FaultRunner&) = delete;

    /// As its driver describes it.
    const nlohmann::json& device() const { return m_device; }
    bool isProcessor() const { return m_device.value("shares_cores", false); }

    /// A trial of a kernel of which nothing goes wrong.
    virtual wire::RunResult measureGood() = 0;

    /// Whether the trial failed like that, and a good one succeeds after it.
    void costsOneTrial(const wire::RunResult& result, std::uint32_t stage, Errc code, const std::string& says)
    {
        const Error failure = wire::errorOf(result.failure());
        const std::string told = std::string(toString(static_cast<TrialStage>(result.stage()))) + " "
                                 + std::string(toString(failure.code)) + ": " + failure.message;
        QVERIFY2(result.stage() == stage && failure.code == code && failure.message.find(says) != std::string::npos,
                 told.c_str());
        QCOMPARE(result.costs_ns_size(), 0);
        const wire::RunResult next = measureGood();
        QVERIFY2(next.stage() == LATHE_STAGE_DONE && next.verified(), next.failure().text().c_str());
    }

protected:
    /// One trial of the artifact's kernel. What it writes is compared with y = 2 x + 1.
    wire::RunResult measure(const KernelInfo& info, std::span<const std::byte> artifact, const std::string& descriptor)
    {
        wire::Message message;
        wire::RunJob& job = *message.mutable_run_job();
        job.set_id(++m_jobs);
        auto& ref = *job.add_artifacts();
        wire::toWire(m_blobs.put(std::string(reinterpret_cast<const char*>(artifact.data()), artifact.size())),
                     ref.mutable_blob());
        ref.set_descriptor(descriptor);
        auto& launch = *job.add_launches();
        launch.set_timed(true);
        for (std::uint32_t i = 0; i < 2; ++i) {
            auto& buffer = *job.add_buffers();
            buffer.set_spec(toJson(info.parameters[i]).dump());
            buffer.set_fill(i == 0 ? wire::Buffer::SEED : wire::Buffer::POISON);
            buffer.set_seed(kSeed);
            launch.add_buffers(i);
        }
        auto& check = *job.add_checks();
        check.set_buffer(1);
        check.set_tolerance(1e-5);
        for (std::uint64_t point = 0; point < 64; ++point) {
            check.add_points(point);
            check.add_values(2 * wire::seededValue(kSeed, static_cast<std::int64_t>(point), DType::F32) + 1);
        }
        wire::RunPlan& plan = *job.mutable_plan();
        plan.set_number(3);
        plan.set_repeat(1);
        plan.set_deadline_ms(8'000);
        plan.set_build_deadline_ms(120'000);
        must(m_runner.take(message, serve::ChildRunner::Clock::now()));
        return answer().run_result();
    }

private:
    /// The next that is no progress.
    wire::Message answer()
    {
        for (const Deadline end = Deadline::inSeconds(250); !end.passed();) {
            m_runner.turn(serve::ChildRunner::Clock::now());
            for (wire::Message& message : m_runner.takeAnswers())
                if (!message.has_progress())
                    return std::move(message);
            std::vector<pollfd> fds;
            m_runner.watch(fds);
            ::poll(fds.data(), fds.size(), std::min(100, Deadline::at(m_runner.wake()).pollMs()));
        }
        qFatal("the supervisor says nothing");
    }

    static constexpr std::uint64_t kSeed = 3;

    wire::BlobStore m_blobs;
    serve::ChildRunner m_runner{std::make_unique<wire::ProcessPort>(wire::WorkerProgram{"lathe-runner"}), m_blobs};
    nlohmann::json m_device;
    std::uint64_t m_jobs = 0;
};

} // namespace lathe::test
