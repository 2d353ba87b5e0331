#include "tests/net/network_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

#include <algorithm>

namespace tst_random_networks {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

constexpr std::uint64_t kTogether = 100; // in one library

/// How many, by hand more: LATHE_TEST_ROUNDS; the first one: LATHE_TEST_SEED.
std::uint64_t fromEnvironment(const char* name, std::uint64_t fallback)
{
    bool given = false;
    const std::uint64_t value = qEnvironmentVariable(name).toULongLong(&given);
    return given ? value : fallback;
}

} // namespace

/// Small networks that seeds give, compiled with default schedules, against their evaluation.
class TestRandomNetworks : public QObject
{
    Q_OBJECT

private slots:
    void agreeWithTheirEvaluation()
    {
        const std::uint64_t first = fromEnvironment("LATHE_TEST_SEED", 1);
        const std::uint64_t count = fromEnvironment("LATHE_TEST_ROUNDS", 2000);
        QTemporaryDir folder;
        const auto compiler = must(deploy::makeBuilderCompiler("cpu", 2, std::chrono::minutes(2)));
        std::string wrong;
        std::size_t wrongs = 0, nodes = 0;
        for (std::uint64_t at = first; at < first + count; at += kTogether) {
            std::vector<RandomNetwork> networks;
            for (std::uint64_t seed = at; seed < std::min(at + kTogether, first + count); ++seed) {
                networks.push_back(randomNetwork(seed, fmt::format("n{}", seed)));
                nodes += networks.back().nodes.size();
            }
            const auto outcomes = outcomesOf(networks, *compiler, folder.path().toStdString());
            for (std::size_t n = 0; n < outcomes.size(); ++n) {
                if (outcomes[n].wrong.empty())
                    continue;
                if (++wrongs <= 20)
                    wrong += fmt::format("\n  seed {}: {}", networks[n].seed, outcomes[n].wrong);
            }
        }
        qInfo("%llu networks of together %zu nodes", static_cast<unsigned long long>(count), nodes);
        QVERIFY2(wrong.empty(), qPrintable(QString("%1 wrong:%2").arg(wrongs).arg(wrong.c_str())));
    }
};

LATHE_TEST_GUILESS(TestRandomNetworks)

} // namespace tst_random_networks

#include "tst_random_networks.moc"
