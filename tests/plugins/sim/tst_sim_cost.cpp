#include "core/backend/kernel_name.h"
#include "core/compute/dag.h"
#include "core/schedule/lower.h"
#include "plugins/sim/cost_model.h"
#include "plugins/sim/fault_script.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tst_sim_cost {

using namespace lathe;
using namespace lathe::sim;

namespace {

ir::LoopNest nest(const char* steps, const char* name = "k")
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {256, 256}, DType::F32);
    const auto y = b.placeholder("B", {256, 256}, DType::F32);
    const auto c = b.reduce(
        "C", {256, 256}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 256}},
        [&](const auto& a, const auto& r) { return b.at(x, {a[0], r[0]}) * b.at(y, {r[0], a[1]}); });
    const auto dag = std::move(b).finish({c});
    const auto parsed = schedule::stepsFromJson(nlohmann::json::parse(steps));
    if (!dag || !parsed)
        qFatal("the matrix product does not build");
    auto state = schedule::State::replay(*dag, *parsed);
    if (!state)
        qFatal("%s", state.error().message.c_str());
    schedule::LowerOptions options;
    options.name = name;
    const auto lowered = schedule::lower(*std::move(state), options);
    if (!lowered)
        qFatal("%s", lowered.error().message.c_str());
    return lowered->nest;
}

constexpr const char* kVectors = R"([["SP", 2, 1, 256, [16], 1], ["RE", 2, [0, 1, 3, 2]], ["AN", 2, 3, 2]])";

CpuMachine smooth()
{
    CpuMachine machine;
    machine.ruggedness = 0;
    return machine;
}

} // namespace

class TestSimCost : public QObject
{
    Q_OBJECT

private slots:
    void timeFollowsFromTheNestAndTheSeedAlone()
    {
        CpuMachine machine;
        const double time = modelTimeNs(nest(kVectors), machine);
        QVERIFY(std::isfinite(time) && time > 0);
        QCOMPARE(modelTimeNs(nest(kVectors, "another_name"), machine), time);
        machine.seed = 1;
        QVERIFY(modelTimeNs(nest(kVectors), machine) != time);
    }

    void goodSchedulesAreFaster()
    {
        const double plain = modelTimeNs(nest("[]"), smooth());
        const double parallel = modelTimeNs(nest(R"([["AN", 2, 0, 3]])"), smooth());
        const double vectors = modelTimeNs(nest(kVectors), smooth());
        QVERIFY2(parallel < plain / 2, qPrintable(QString("%1 %2").arg(parallel).arg(plain)));
        QVERIFY2(vectors < plain, qPrintable(QString("%1 %2").arg(vectors).arg(plain)));
    }

    void aSmallerCacheCostsTime()
    {
        CpuMachine small = smooth();
        small.l1Bytes = 1024;
        small.l2Bytes = 4096;
        small.l3Bytes = 16384;
        QVERIFY(modelTimeNs(nest(kVectors), small) > 1.2 * modelTimeNs(nest(kVectors), smooth()));
    }

    void costFilesAreChecked()
    {
        const auto machine = CpuMachine::fromJson(R"({"cores": 4, "l1_bytes": 65536})");
        QVERIFY(machine);
        QCOMPARE(machine->cores, 4.0);
        for (const char* bad : {"", "[]", R"({"corse": 4})", R"({"cores": "four"})", R"({"cores": -1})"})
            QCOMPARE(int(CpuMachine::fromJson(bad).error().code), int(Errc::BadFile));
    }

    void kernelNamesCarryTheTrial()
    {
        const auto identity = backend::parseKernelName(backend::kernelName(12, 0xabc));
        QVERIFY(identity);
        QCOMPARE(identity->ordinal, 12);
        QCOMPARE(identity->candidateHash, std::uint64_t(0xabc));
        QCOMPARE(backend::parseKernelName(backend::kernelName(-1, 5))->ordinal, -1);
        for (const char* bad : {"", "k", "k1", "conv2d_0000000000000abc", "kx_0000000000000abc", "k1_00000000000000zz"})
            QVERIFY(!backend::parseKernelName(bad));
    }

    void scriptsDecideByTrialCandidateAndRate()
    {
        const auto script = FaultScript::parse(R"({"seed": 3, "rules": [{"fault": "crash", "ordinal": 2},
            {"fault": "wrong", "candidate": "00ff"}, {"fault": "hang", "every": 10, "offset": 5}, {"fault": "slow", "rate": 0.25}]})");
        QVERIFY(script);
        const auto fault = [&](std::int64_t ordinal, std::uint64_t hash) {
            return script->decide(backend::kernelName(ordinal, hash)).fault;
        };
        QVERIFY(fault(2, 1) == Fault::Crash);
        QVERIFY(fault(3, 0x00ff000000000000) == Fault::Wrong);
        QVERIFY(fault(25, 1) == Fault::Hang);
        int slow = 0;
        for (std::uint64_t hash = 1; hash <= 1000; ++hash) {
            QVERIFY(fault(1, hash) == fault(7, hash)); // the draw is of the candidate
            slow += fault(1, hash) == Fault::Slow;
        }
        QVERIFY(slow > 180 && slow < 320);
        QVERIFY(script->decide("main").fault == Fault::None);
    }

    void badScriptsAreRefused()
    {
        for (const char* bad :
             {"", "{}", R"({"rules": 1})", R"({"rules": [{"fault": "fire", "ordinal": 1}]})",
              R"({"rules": [{"fault": "crash"}]})", R"({"rules": [{"fault": "crash", "ordinal": "one"}]})",
              R"({"rules": [{"fault": "crash", "every": 1e300}]})", R"({"seed": 1.5, "rules": []})"})
            QCOMPARE(int(FaultScript::parse(bad).error().code), int(Errc::BadFile));
    }
};

LATHE_TEST(TestSimCost)

} // namespace tst_sim_cost

#include "tst_sim_cost.moc"
