#include "core/session/options_json.h"
#include "core/session/tune_options.h"
#include "tests/support/test_program.h"

#include <QtTest>
#include <nlohmann/json.hpp>

#include <functional>
#include <limits>

Q_DECLARE_METATYPE(std::function<void(lathe::session::TuneOptions&)>)

namespace tst_options {

using namespace lathe;
using namespace lathe::session;

class TestOptions : public QObject
{
    Q_OBJECT

private slots:
    void optionsThatNoRunCanFollowAreRefusedByName_data()
    {
        QTest::addColumn<std::function<void(TuneOptions&)>>("change");
        QTest::addColumn<QByteArray>("names");
        const auto row = [](const char* name, std::function<void(TuneOptions&)> change) {
            QTest::newRow(name) << std::move(change) << QByteArray(name);
        };
        row("--time", [](TuneOptions& o) { o.seconds = std::numeric_limits<double>::quiet_NaN(); });
        row("--trials", [](TuneOptions& o) { o.trials = -5; });
        row("--trials-per-task", [](TuneOptions& o) { o.trialsPerTask = -1; });
        row("--trials-per-round", [](TuneOptions& o) { o.trialsPerRound = 5000; });
        row("--policy", [](TuneOptions& o) { o.policy = "luck"; });
        row("--cache", [](TuneOptions& o) { o.cache = "lukewarm"; });
        row("--runoff", [](TuneOptions& o) { o.runoff = "maybe"; });
        row("--repeat", [](TuneOptions& o) { o.repeat = 0; });
        row("--number", [](TuneOptions& o) { o.number = 0; });
        row("--min-repeat-ms", [](TuneOptions& o) { o.minRepeatMs = -1; });
        row("--timeout", [](TuneOptions& o) { o.timeoutSeconds = 0; });
        row("--cooldown-ms", [](TuneOptions& o) { o.cooldownMs = -1; });
        row("--early-stop", [](TuneOptions& o) { o.earlyStop = -1; });
        row("--build-jobs", [](TuneOptions& o) { o.buildJobs = -1; });
    }
    void optionsThatNoRunCanFollowAreRefusedByName()
    {
        QFETCH(std::function<void(TuneOptions&)>, change);
        QFETCH(QByteArray, names);
        TuneOptions options;
        QVERIFY(check(options));
        change(options);
        const auto refused = check(options);
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::InvalidArgument);
        QVERIFY2(refused.error().message.starts_with(names.toStdString() + " is "), refused.error().message.c_str());
    }

    void theReferencesPolicyHasTheReferencesRepeats()
    {
        TuneOptions options;
        QCOMPARE(minRepeatMs(options), 20.0);
        options.policy = "reference";
        QCOMPARE(minRepeatMs(options), 100.0);
        options.minRepeatMs = 7;
        QCOMPARE(minRepeatMs(options), 7.0);
    }

    void tuningOptionsComeBackFromTheProject()
    {
        TuneOptions options;
        options.seconds = 90;
        options.trials = 17;
        options.policy = "reference";
        options.devices = {"a", "b"};
        options.seed = 9;
        options.cache = "cold";
        options.runoff = "on";
        options.strict = true;
        const auto read = tuneOptionsFromJson(toJson(options).dump());
        QVERIFY(read);
        QCOMPARE(QString::fromStdString(toJson(*read).dump()), QString::fromStdString(toJson(options).dump()));
        QCOMPARE(minRepeatMs(*read), 100.0);
        QVERIFY(read->devices == options.devices);
        QCOMPARE(tuneOptionsFromJson("{}")->runoff, std::string("off")); // of a version that held none
        QCOMPARE(minRepeatMs(*tuneOptionsFromJson(R"({"policy": "reference"})")), 100.0);
    }

    void wrongTypesInAProjectAreRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("no object") << QByteArray("[]");
        QTest::newRow("no JSON") << QByteArray("{");
        QTest::newRow("text for a number") << QByteArray(R"({"trials": "many"})");
        QTest::newRow("fraction for a whole number") << QByteArray(R"({"repeat": 1.5})");
        QTest::newRow("number for a list") << QByteArray(R"({"devices": 3})");
        QTest::newRow("list of numbers") << QByteArray(R"({"devices": [3]})");
        QTest::newRow("a number too large") << QByteArray(R"({"repeat": 4294967299})");
        QTest::newRow("a seed below zero") << QByteArray(R"({"seed": -1})");
    }
    void wrongTypesInAProjectAreRefused()
    {
        QFETCH(QByteArray, text);
        const auto read = tuneOptionsFromJson(text.toStdString());
        QVERIFY(!read);
        QVERIFY(read.error().code == Errc::BadFile);
    }

    void aModelComesBackFromItsDescription()
    {
        ModelSpec spec;
        spec.source = "/models/a b.onnx";
        spec.batch = 4;
        spec.shapes = {{"x", {4, 3, 8, 8}}, {"y", {}}};
        spec.layout = "NHWC";
        spec.partition = "reference";
        spec.seed = 12;
        const auto read = modelSpecFromJson(toJson(spec).dump());
        QVERIFY(read);
        QCOMPARE(read->source, spec.source);
        QVERIFY(read->batch == spec.batch && read->shapes == spec.shapes && read->layout == spec.layout);
        QVERIFY(read->partition == spec.partition && read->seed == spec.seed);
        QVERIFY(!modelSpecFromJson(R"({"batch": "four"})"));
        for (const char* shapes : {R"([["x", [1e300]]])", R"([["x", 4]])", R"([["x"]])", R"([[4, [4]]])", R"({"x": [4]})"})
            QVERIFY2(!modelSpecFromJson(R"({"shapes": )" + std::string(shapes) + "}"), shapes);
    }
};

LATHE_TEST(TestOptions)

} // namespace tst_options

#include "tst_options.moc"
