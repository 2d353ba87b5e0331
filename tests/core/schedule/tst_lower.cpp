#include "kernel_check.h"

#include "core/ir/print.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace lathe;
using namespace lathe::schedule;

namespace {

State replayed(const compute::DagPtr& dag, const char* steps)
{
    const auto parsed = stepsFromJson(nlohmann::json::parse(steps));
    if (!parsed)
        qFatal("%s", parsed.error().message.c_str());
    auto state = State::replay(dag, *parsed);
    if (!state)
        qFatal("%s", state.error().message.c_str());
    return *std::move(state);
}

} // namespace

class TestLower : public QObject
{
    Q_OBJECT

private slots:
    void plainMatmulIsRight();
    void convolutionKeepsItsTileInRegisters();
};

void TestLower::plainMatmulIsRight()
{
    const State state = State::initial(test::matmul(5, 7, 6));
    QCOMPARE(QString::fromStdString(test::checkKernel(state, 1)), QString());
    const auto k = lower(state, {});
    fprintf(stderr, "%s\n", ir::print(k->nest).c_str());
}

void TestLower::convolutionKeepsItsTileInRegisters()
{
    // data 0, pad 1, weight 2, conv 3, bias 4, add 5, relu 6
    const State state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), R"([
        ["CI", 5], ["CHW", 3, "local"], ["CI", 4], ["CI", 1],
        ["SP", 7, 3, 16, [2, 4], 1], ["SP", 7, 2, 12, [4], 1],
        ["RE", 7, [0, 4, 1, 2, 3, 5, 6]],
        ["CA", 3, 7, 3],
        ["SP", 3, 3, 16, [2, 4], 1],
        ["RE", 3, [0, 1, 3, 6, 7, 8, 2, 4, 5]],
        ["AN", 3, 6, 1], ["AN", 3, 7, 1], ["AN", 3, 8, 2],
        ["AN", 7, 4, 1], ["AN", 7, 5, 1], ["AN", 7, 6, 2],
        ["LY", 2, [[3, 8, 2], [0, 1, 3], [1, 1, 3], [2, 1, 8], [3, 4, 2], [3, 1, 4]]],
        ["PT", 7, 3],
        ["PF", 3, 5, 2, 4096],
        ["FU", 7, [0, 1, 2]], ["AN", 7, 0, 3]
    ])");
    const auto k = lower(state, {});
    if (!k) qFatal("%s", k.error().message.c_str());
    fprintf(stderr, "%s\n%s\n", state.print().c_str(), ir::print(k->nest).c_str());
    QCOMPARE(QString::fromStdString(test::checkKernel(state, 1)), QString());
}

QTEST_APPLESS_MAIN(TestLower)
#include "tst_lower.moc"
