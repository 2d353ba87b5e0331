#include "core/session/back_ends.h"
#include "core/support/files.h"
#include "tests/net/golden_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace tst_golden_cases {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

struct Counts
{
    std::size_t cases = 0, refused = 0;
    bool operator==(const Counts&) const = default;
};

std::string text(const std::string& op, const Counts& counts)
{
    return fmt::format("{} {} {}", op, counts.cases, counts.refused);
}

/// goldens/counts.txt: operator, cases, cases that Lathe refuses.
std::map<std::string, Counts> expectedCounts()
{
    std::map<std::string, Counts> all;
    std::istringstream lines(must(readFile(std::filesystem::path(LATHE_GOLDENS) / "counts.txt")));
    std::string op;
    for (Counts counts; lines >> op >> counts.cases >> counts.refused;)
        all[op] = counts;
    return all;
}

} // namespace

/// How many cases of each ONNX operator there are and how many of them are refused: what tst_every_onnx_operator does not
/// test, however well it passes, stands in that table. An operator without a case does not.
class TestGoldenCases : public QObject
{
    Q_OBJECT

private slots:
    void asManyAreTakenAsBefore()
    {
        const Target target = must(session::parseTarget("cpu"));
        const std::map<std::string, Counts> expected = expectedCounts();
        std::string found, wrong;
        std::size_t files = 0;
        for (const std::filesystem::path& file : goldenFiles()) {
            const std::string op = file.stem().string();
            Counts counts;
            for (const GoldenCase& one : must(readGoldenCases(file))) {
                ++counts.cases;
                counts.refused += importNetwork(one.model, target) ? 0 : 1;
            }
            ++files;
            found += text(op, counts) + "\n";
            const auto known = expected.find(op);
            if (counts.cases == 0 || known == expected.end() || known->second != counts)
                wrong += "\n  " + text(op, counts)
                         + (known == expected.end() ? " is not in counts.txt"
                                                    : " instead of " + text(op, known->second));
        }
        if (const QByteArray file = qgetenv("LATHE_WRITE_COUNTS"); !file.isEmpty()) // by hand, after a look at them
            must(writeFileAtomically(file.toStdString(), found));
        QVERIFY2(wrong.empty(), wrong.c_str());
        QCOMPARE(files, expected.size());
    }
};

LATHE_TEST(TestGoldenCases)

} // namespace tst_golden_cases

#include "tst_golden_cases.moc"
