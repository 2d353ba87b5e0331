#include "core/session/back_ends.h"
#include "tests/net/expectation.h"
#include "tests/net/findings.h"
#include "tests/net/golden_cases.h"
#include "tests/net/kernel_run.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <array>
#include <list>

namespace tst_every_onnx_operator {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

constexpr std::array<OpenFinding, 0> kOpen = {};

struct Kernel
{
    Schedule schedule;
    KernelRun run;
};

struct Tested
{
    const GoldenCase& of;
    ImportedNetwork network;
    std::list<Kernel> kernels;
};

void check(const Tested& tested, const KernelBatch& batch, Findings& findings)
{
    for (std::size_t s = 0; s < tested.of.sets.size(); ++s) {
        const GoldenSet& set = tested.of.sets[s];
        const auto said = [&](const std::string& who, const std::string& what) {
            findings.add(fmt::format("{}, {}, set {}: {}", tested.of.name, who, s, what));
        };
        const auto expected = expect(tested.network.imported, set.inputs, {.passErrorsOn = true});
        if (!expected)
            return said("evaluated", expected.error().message);
        for (std::size_t i = 0; i < set.outputs.size(); ++i)
            if (set.outputs[i])
                if (const std::string text = compareWithGolden(tested.of, s, (*expected)[i], *set.outputs[i]);
                    !text.empty())
                    said("evaluated, beside ONNX Runtime", text);
        for (const Kernel& kernel : tested.kernels) {
            const auto got = kernel.run.run(batch, set.inputs, kernel.schedule == Schedule::Default ? 1 : 3);
            if (!got && findings.excuses(kernel.schedule, got.error()))
                continue;
            if (!got)
                said(fmt::format("{} schedule", toString(kernel.schedule)), got.error().message);
            for (std::size_t i = 0; got && i < got->size(); ++i)
                if (const std::string text = compare((*got)[i], (*expected)[i]); !text.empty())
                    said(fmt::format("{} schedule", toString(kernel.schedule)), text);
            findings.covered.emplace(tested.of.dtype, kernel.schedule);
        }
    }
}

Findings findingsOf(const std::filesystem::path& file, const Target& target)
{
    Findings findings;
    const std::vector<GoldenCase> cases = must(readGoldenCases(file));
    KernelBatch batch(target.text());
    std::list<Tested> all;
    std::uint64_t seed = 1;
    for (const GoldenCase& of : cases) {
        auto network = importNetwork(of.model, target);
        if (!network) {
            const Errc code = network.error().code;
            if (code == Errc::Unsupported || code == Errc::InvalidArgument) {
                ++findings.refused;
                findings.refusals.insert(of.name + ": " + network.error().message);
            } else
                findings.add(fmt::format("{}: {}", of.name, network.error().message));
            continue;
        }
        // Results whose size depends on data: tests/values and others run them in libraries, which tell the size.
        if (!network->imported.outputExtents.empty()) {
            findings.byFunction = true;
            continue;
        }
        all.push_back({of, *std::move(network), {}});
        const ImportedNetwork& held = all.back().network;
        for (const Schedule schedule : {Schedule::Default, seed % 2 == 0 ? Schedule::Sampled : Schedule::Random}) {
            auto run = KernelRun::ofPartition(held.graph, held.partition, target, schedule, seed++, batch);
            if (run)
                all.back().kernels.push_back({schedule, *std::move(run)});
            else if (schedule != Schedule::Sampled || run.error().code != Errc::Unsupported) // no sketch has it
                findings.add(fmt::format("{}, {} schedule: {}", of.name, toString(schedule), run.error().message));
        }
    }
    findings.kernels = batch.size();
    if (const auto built = batch.build(); !built) {
        findings.add(built.error().message);
        return findings;
    }
    for (const Tested& tested : all)
        check(tested, batch, findings);
    return findings;
}

} // namespace

/// Each ONNX operator, through importer, passes and code, in every element type that the standard gives it: kernels by
/// default and random schedules against the evaluator, and the evaluator against goldens of ONNX Runtime.
class TestEveryOnnxOperator : public QObject
{
    Q_OBJECT

private slots:
    void isRightInEveryType_data()
    {
        const Target target = must(session::parseTarget("cpu"));
        std::vector<std::filesystem::path> files;
        std::vector<std::string> names;
        for (const std::filesystem::path& file : goldenFiles())
            if (isAsked(file.stem().string())) {
                files.push_back(file);
                names.push_back(file.stem().string());
            }
        m_findings = findingsInRows(names, [&](std::size_t i) { return findingsOf(files[i], target); });
    }
    void isRightInEveryType()
    {
        QFETCH(int, index);
        const Findings& findings = m_findings[static_cast<std::size_t>(index)];
        if (qEnvironmentVariableIsSet("LATHE_TEST_OPERATOR"))
            for (const std::string& refusal : findings.refusals)
                qInfo("refused: %s", refusal.c_str());
        if (const OpenFinding* const open = openFinding(kOpen, QTest::currentDataTag())) {
            qInfo("open: %s: %zu: %s%s", QTest::currentDataTag(), findings.wrong, open->reason.data(),
                  findings.text.c_str());
            QCOMPARE(findings.wrong, open->wrong);
            return;
        }
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
    }

    void cleanupTestCase()
    {
        std::size_t triples = 0, kernels = 0, refused = 0, covered = 0, unrolled = 0;
        for (const Findings& findings : m_findings) {
            triples += findings.covered.size();
            kernels += findings.kernels;
            unrolled += findings.unrolled;
            refused += findings.refused;
            covered += findings.covered.empty() ? 0 : 1;
        }
        qInfo("%zu triples of operator, element type and kind of schedule; %zu ONNX operators, %zu kernels; %zu cases "
              "refused with a sentence; %zu runs of kernels left out, which unroll too much",
              triples, covered, kernels, refused, unrolled);
    }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryOnnxOperator)

} // namespace tst_every_onnx_operator

#include "tst_every_onnx_operator.moc"
