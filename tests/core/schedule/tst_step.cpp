#include "core/schedule/step.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_step {

using namespace lathe;
using namespace lathe::schedule;

class TestStep : public QObject
{
    Q_OBJECT

private slots:
    void everyStepReadsWhatItWrites_data();
    void everyStepReadsWhatItWrites();
    void damagedStepsAreRefused_data();
    void damagedStepsAreRefused();
    void openLengthsSurvive();
    void ownStepsAreNotTheReferences();
    void aListNamesThePositionOfTheBadStep();
    void nestingDeeperThanTheStackIsAnError();
};

void TestStep::everyStepReadsWhatItWrites_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text : {R"(["AN",8,0,5])",
                             R"(["FU",8,[0,1,2,3]])",
                             R"(["FU",1,[]])",
                             R"(["PR",5,0,"auto_unroll_max_step$512"])",
                             R"(["RE",3,[0,4,1,2,3]])",
                             R"(["SP",3,0,56,[1,7,2],1])",
                             R"(["SP",3,0,0,[4],0])",
                             R"(["FSP",6,0,2,3])",
                             R"(["FFSP",4,0,[4,3,2,1],1,1])",
                             R"(["SA",2,1,16,8])",
                             R"(["CA",3,6,11])",
                             R"(["CI",5])",
                             R"(["CR",5])",
                             R"(["CHR",2,"shared",[3]])",
                             R"(["CHW",3,"local"])",
                             R"(["RF",2,3,0])",
                             R"(["LY",2,[[3,32,2],[0,1,3],[3,1,32]]])",
                             R"(["PT",7,3])",
                             R"(["OV",3,0,9])",
                             R"(["SG",3,4])",
                             R"(["PF",3,5,2,4096])",
                             R"(["PS",3,0,16])",
                             R"(["FD",1,2,4])",
                             R"(["SH",1,2,32])",
                             R"(["LB",3,2])"})
        QTest::newRow(text) << QString(text);
}

void TestStep::everyStepReadsWhatItWrites()
{
    QFETCH(QString, text);
    const auto step = stepFromJson(nlohmann::json::parse(text.toStdString()));
    QVERIFY2(step, step ? "" : step.error().message.c_str());
    QCOMPARE(QString::fromStdString(toJson(*step).dump()), text);
}

void TestStep::damagedStepsAreRefused_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text : {R"([])",
                             R"({})",
                             R"(["XX",1])",
                             R"(["AN",8,0])",
                             R"(["AN",8,0,5,1])",
                             R"(["AN",8,0,12])",
                             R"(["AN",-1,0,5])",
                             R"(["AN","8",0,5])",
                             R"(["FU",8,3])",
                             R"(["FU",8,[-1]])",
                             R"(["PR",5,0,512])",
                             R"(["SP",3,0,56,[0],1])",
                             R"(["SP",3,0,56,[1,7,2],2])",
                             R"(["SP",3,0,56,["4"],1])",
                             R"(["SP",3,0,1e3,[4],1])",
                             R"(["FSP",6,0,2,0])",
                             R"(["CA",3,6])",
                             R"(["CI"])",
                             R"(["CHR",2,"shared",3])",
                             R"(["CHW",3,7])",
                             R"(["LY",2,[[3,32]]])",
                             R"(["LY",2,[[3,0,2]]])",
                             R"(["AN",99999999999999999999,0,5])",
                             R"(["PF",3,5,2,-4])",
                             R"(["LB",3,0])",
                             R"(["LB",3,33])"})
        QTest::newRow(text) << QString(text);
}

void TestStep::damagedStepsAreRefused()
{
    QFETCH(QString, text);
    const auto step = stepFromJson(nlohmann::json::parse(text.toStdString()));
    QVERIFY(!step);
    QVERIFY(step.error().code == Errc::BadFile);
}

void TestStep::openLengthsSurvive()
{
    const SplitStep open{3, 0, 56, {std::nullopt, 7}, true};
    const auto back = stepFromJson(toJson(Step(open)));
    QVERIFY(back);
    const auto& lengths = std::get<SplitStep>(*back).lengths;
    QVERIFY(!lengths[0].has_value());
    QCOMPARE(*lengths[1], std::int64_t{7});
}

void TestStep::ownStepsAreNotTheReferences()
{
    QVERIFY(isReferenceStep(Step(RfactorStep{1, 2, 0})));
    QVERIFY(!isReferenceStep(Step(LayoutStep{1, {}})));
    QVERIFY(!isReferenceStep(Step(FoldStep{1, 0, 4})));
    QVERIFY(!isReferenceStep(Step(StagesStep{1, 2})));
    QVERIFY(!isReferenceStep(Step(LeastBlocksStep{1, 2})));
}

void TestStep::aListNamesThePositionOfTheBadStep()
{
    const auto steps = stepsFromJson(nlohmann::json::parse(R"([["CI",5],["CI",4],["CI"]])"));
    QVERIFY(!steps);
    QVERIFY2(steps.error().message.find("position 2") != std::string::npos, steps.error().message.c_str());
}

void TestStep::nestingDeeperThanTheStackIsAnError()
{
    const int depth = 400'000;
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    QVERIFY(!stepFromJson(nlohmann::json::parse(deep)));
    QVERIFY(!stepFromJson(nlohmann::json::parse("[\"CI\", " + deep + "]")));
    QVERIFY(!stepsFromJson(nlohmann::json::parse("[[\"LY\", 2, [[" + deep + ", 1, 1]]]]")));
}

LATHE_TEST(TestStep)

} // namespace tst_step

#include "tst_step.moc"
