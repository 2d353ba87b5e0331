#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "tests/net/findings.h"
#include "tests/net/golden_cases.h"
#include "tests/net/random_network.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <map>

namespace tst_exported_networks {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

constexpr std::size_t kFewestCases = 4000; ///< golden cases that are compared: 4,096 when this was written

std::uint64_t fromEnvironment(const char* name, std::uint64_t fallback)
{
    bool given = false;
    const std::uint64_t value = qEnvironmentVariable(name).toULongLong(&given);
    return given ? value : fallback;
}

/// What comes of networks that are exported and imported again.
class RoundTrips
{
public:
    void send(const std::string& who, const std::string& model, const std::vector<graph::HostTensor>& inputs)
    {
        const auto graph = frontend::importOnnx(std::as_bytes(std::span(model)));
        if (!graph)
            return; // other tests count what is refused
        const auto bytes = frontend::exportOnnx(*graph);
        if (!bytes) {
            if (bytes.error().code == Errc::Unsupported)
                m_refused.emplace(who, bytes.error().message);
            else
                tell(who, bytes.error().message);
            return;
        }
        const auto again = frontend::importOnnx(*bytes);
        if (!again)
            return tell(who, "imported again: " + again.error().message);
        if (const std::string text = differenceOf(*graph, *again); !text.empty())
            return tell(who, text);
        const auto expected = expect(*graph, inputs, {.passErrorsOn = true});
        const auto got = graph::interpret(*again, inputs);
        if (!expected || !got)
            return tell(who, expected ? got.error().message : expected.error().message);
        ++m_compared;
        for (std::size_t i = 0; i < got->size(); ++i)
            if (const std::string text = compare((*got)[i], (*expected)[i]); !text.empty())
                return tell(who, fmt::format("output {}: {}", i, text));
    }
    std::size_t compared() const { return m_compared; }
    const std::map<std::string, std::string>& refused() const { return m_refused; }
    const std::vector<std::string>& wrong() const { return m_wrong; }

private:
    static std::string differenceOf(const graph::Graph& one, const graph::Graph& other)
    {
        const auto listed = [](const graph::Graph& g) {
            std::string text;
            for (const graph::ValueId id : g.inputs)
                text += fmt::format("{} {}, ", g.value(id).name,
                                    graph::typeText({g.value(id).dtype, g.value(id).shape}));
            text += "-> ";
            for (std::size_t i = 0; i < g.outputs.size(); ++i)
                text += fmt::format("{} {}, ", g.outputName(i),
                                    graph::typeText({g.value(g.outputs[i]).dtype, g.value(g.outputs[i]).shape}));
            return text;
        };
        const std::string a = listed(one), b = listed(other);
        return a == b ? "" : fmt::format("{} became {}", a, b);
    }
    void tell(const std::string& who, const std::string& what) { m_wrong.push_back(fmt::format("{}: {}", who, what)); }

    std::size_t m_compared = 0;
    std::map<std::string, std::string> m_refused; ///< what has no spelling in ONNX, by the network's name
    std::vector<std::string> m_wrong;
};

} // namespace

/// What Lathe writes as ONNX computes what was read, in every type and with branches and loops: of both, the plain
/// evaluation.
class TestExportedNetworks : public QObject
{
    Q_OBJECT

private slots:
    void randomNetworksComputeTheSame()
    {
        const std::uint64_t first = fromEnvironment("LATHE_TEST_SEED", 1);
        const std::uint64_t count = fromEnvironment("LATHE_TEST_ROUNDS", 500);
        RoundTrips trips;
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            const RandomNetwork network = randomNetwork(seed);
            trips.send(fmt::format("seed {}", seed), network.model(), network.values);
        }
        report(trips);
        QCOMPARE(trips.wrong().size(), std::size_t{0});
        QVERIFY2(trips.compared() >= count * 9 / 10, "most networks can be written");
    }

    void everyOperatorComputesTheSame()
    {
        RoundTrips trips;
        for (const std::filesystem::path& file : goldenFiles())
            if (isAsked(file.stem().string()))
                for (const GoldenCase& one : must(readGoldenCases(file)))
                    trips.send(one.name, one.model, one.sets.front().inputs);
        report(trips);
        QCOMPARE(trips.wrong().size(), std::size_t{0});
        const bool isOne = qEnvironmentVariableIsSet("LATHE_TEST_OPERATOR");
        QVERIFY2(trips.compared() >= (isOne ? 1 : kFewestCases), "what is refused must be few");
    }

private:
    static void report(const RoundTrips& trips)
    {
        qInfo("%zu compared, %zu cannot be written", trips.compared(), trips.refused().size());
        for (const std::string& wrong : trips.wrong())
            qWarning("%s", wrong.c_str());
        if (qEnvironmentVariableIsSet("LATHE_TEST_REFUSED")) // by hand
            for (const auto& [who, why] : trips.refused())
                qInfo("%s: %s", who.c_str(), why.c_str());
    }
};

LATHE_TEST_GUILESS(TestExportedNetworks)

} // namespace tst_exported_networks

#include "tst_exported_networks.moc"
