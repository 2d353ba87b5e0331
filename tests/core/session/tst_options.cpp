#include "core/session/options/option_table.h"
#include "core/session/options/options_json.h"
#include "core/session/options/tune_options.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <functional>
#include <limits>
#include <set>

Q_DECLARE_METATYPE(std::function<void(lathe::session::TuneOptions&)>)

namespace tst_options {

using namespace lathe;
using namespace lathe::session;

namespace {

// All fields of the structs, in their order. What is added there does not compile here before it stands in these lists;
// then it must have a row.
std::vector<std::pair<const char*, const void*>> fieldsOf(const TuneOptions& o)
{
    const auto& [seconds, trials, trialsPerTask, trialsPerRound, policy, scheduler, tuner, tunerSettings,
                 preset, operators, tasks, earlyStopPerTask, headStart, devices, broker, credentials, priority, reserveSeconds, seed, resume, startOver, repeat, number, minRepeatMs,
                 timeoutSeconds, cooldownMs, earlyStop, minGainPercent, gainWindowSeconds, buildJobs, cache, runoff,
                 strict, verbose] = o;
    return {{"seconds", &seconds},
            {"trials", &trials},
            {"trialsPerTask", &trialsPerTask},
            {"trialsPerRound", &trialsPerRound},
            {"policy", &policy},
            {"scheduler", &scheduler},
            {"tuner", &tuner},
            {"tunerSettings", &tunerSettings},
            {"preset", &preset},
            {"operators", &operators},
            {"tasks", &tasks},
            {"earlyStopPerTask", &earlyStopPerTask},
            {"headStart", &headStart},
            {"devices", &devices},
            {"broker", &broker},
            {"credentials", &credentials},
            {"priority", &priority},
            {"reserveSeconds", &reserveSeconds},
            {"seed", &seed},
            {"resume", &resume},
            {"startOver", &startOver},
            {"repeat", &repeat},
            {"number", &number},
            {"minRepeatMs", &minRepeatMs},
            {"timeoutSeconds", &timeoutSeconds},
            {"cooldownMs", &cooldownMs},
            {"earlyStop", &earlyStop},
            {"minGainPercent", &minGainPercent},
            {"gainWindowSeconds", &gainWindowSeconds},
            {"buildJobs", &buildJobs},
            {"cache", &cache},
            {"runoff", &runoff},
            {"strict", &strict},
            {"verbose", &verbose}};
}

std::vector<std::pair<const char*, const void*>> fieldsOf(const ModelSpec& s)
{
    const auto& [source, batch, shapes, sizes, layout, softmax, partition, hardware, seed, withoutPasses, passLog] = s;
    return {{"source", &source},       {"batch", &batch},
            {"shapes", &shapes},       {"sizes", &sizes},
            {"layout", &layout},       {"softmax", &softmax},
            {"partition", &partition}, {"hardware", &hardware},
            {"seed", &seed},           {"withoutPasses", &withoutPasses},
            {"passLog", &passLog}};
}

std::vector<std::pair<const char*, const void*>> fieldsOf(const CompileOptions& o)
{
    const auto& [output, name, allowDefault, strict, inputs, verify, benchmark, threads, device, broker, credentials,
                 overwrite, graphTuner, mostCandidates, conversionRuns, logs, packages] = o;
    return {{"output", &output}, {"name", &name},     {"allowDefault", &allowDefault}, {"strict", &strict},
            {"inputs", &inputs}, {"verify", &verify}, {"benchmark", &benchmark},       {"threads", &threads},
            {"device", &device}, {"broker", &broker}, {"credentials", &credentials},   {"overwrite", &overwrite},
            {"graphTuner", &graphTuner},
            {"mostCandidates", &mostCandidates},
            {"conversionRuns", &conversionRuns},
            {"logs", &logs},
            {"packages", &packages}};
}

template<typename Options>
void everyFieldHasARow()
{
    const Options options;
    std::set<const void*> rows;
    for (const Option<Options>& option : optionTable<Options>())
        QVERIFY2(option.field && rows.insert(option.field(options)).second,
                 (option.flag + " stands twice, or for no field").c_str());
    for (const auto& [name, field] : fieldsOf(options))
        QVERIFY2(rows.contains(field), (std::string(name) + " has no row in the option table").c_str());
    QCOMPARE(rows.size(), fieldsOf(options).size());
}

} // namespace

class TestOptions : public QObject
{
    Q_OBJECT

private slots:
    void everyTuneOptionStandsInTheTable() { everyFieldHasARow<TuneOptions>(); }
    void everyModelOptionStandsInTheTable() { everyFieldHasARow<ModelSpec>(); }
    void everyOptionOfAnExportStandsInTheTable() { everyFieldHasARow<CompileOptions>(); }

    void rowsSayWhatTheyMustSay()
    {
        std::set<std::pair<std::string, std::string>> taken;
        for (const SetOption& option : allOptions()) {
            const OptionInfo& info = *option.info;
            QVERIFY2(!info.help.empty() && info.help.back() != '.'
                         && std::isupper(static_cast<unsigned char>(info.help.front())) != 0,
                     info.flag.c_str());
            QVERIFY2(info.type == OptionType::Flag || info.flag[0] != '-' || !info.placeholder.empty(),
                     info.flag.c_str());
            QVERIFY2(info.type != OptionType::Word || !wordsOf(info).empty(), info.flag.c_str());
            QVERIFY2(validationError(option).empty() || std::holds_alternative<std::monostate>(option.value),
                     info.flag.c_str());
            for (const std::string& command : info.commands)
                QVERIFY2(taken.insert({command, info.flag}).second, info.flag.c_str());
            QVERIFY2(!info.commands.empty(), info.flag.c_str());
        }
    }

    void helpSaysUnitRangeAndDefault()
    {
        std::map<std::string, std::string> help;
        for (const SetOption& option : valuesOf(TuneOptions()))
            help[option.info->flag] = helpText(option);
        QCOMPARE(help["--timeout"], std::string("Time limit of one candidate (0.001 to 86400 s; default: 10 s)"));
        QCOMPARE(help["--min-gain"],
                 std::string("Stop when the last --gain-window made the network faster by less than this "
                             "(0 to 100 %; default: 0, never)"));
        QCOMPARE(help["--trials"], std::string("Number of trials to make (default: no limit)"));
        QCOMPARE(help["--verbose"], std::string("Print a line per trial"));
        QVERIFY(help["--runoff"].ends_with("(auto, on or off; default: auto)"));
        QVERIFY(
            help["--cache"].ends_with("none of their data (cold) (default: network)")); // the words are told already
    }

    void aShellIsToldWhatIsNotAsUsual()
    {
        const auto words = [](const auto& options, const char* command) {
            std::string text;
            for (const std::string& word : commandLineArguments(valuesOf(options), command))
                text += (text.empty() ? "" : " ") + word;
            return text;
        };
        QCOMPARE(words(TuneOptions(), "tune"), std::string());
        TuneOptions tune;
        tune.seconds = 90;
        tune.seed = 7;
        tune.devices = {"a", "b"};
        tune.minRepeatMs = 0.5;
        tune.strict = true;
        tune.scheduler = "round-robin";
        QCOMPARE(words(tune, "tune"),
                 std::string(
                     "--time 90s --scheduler round-robin --device a --device b --seed 7 --min-repeat-ms 0.5 --strict"));
        QCOMPARE(words(tune, "compile"), std::string());
        ModelSpec spec;
        spec.source = "zoo:mlp";
        spec.batch = 4;
        spec.shapes = {{"x", {4, 3}}, {"y", {1}}};
        QCOMPARE(words(spec, "verify"), std::string("zoo:mlp --batch 4 --shape x=4,3 --shape y=1"));
        spec.shapes.clear();
        spec.sizes = {{"height", 640}, {"x:2", 3}};
        QCOMPARE(words(spec, "tasks"), std::string("zoo:mlp --batch 4 --dim height=640 --dim x:2=3"));
        CompileOptions compile;
        compile.verify = false;
        compile.output = "lib.so";
        QCOMPARE(words(compile, "compile"), std::string("--no-verify -o lib.so"));
    }

    // Projects know a model again by these words.
    void theJsonOfAModelStaysWhatItWas()
    {
        ModelSpec spec;
        spec.source = "zoo:mlp";
        QCOMPARE(
            toJson(spec).dump(),
            std::string(
                R"({"batch":0,"hardware":"","layout":"","partition":"lathe","seed":0,"shapes":[],"source":"zoo:mlp"})"));
        spec.shapes = {{"x", {4, 3}}};
        spec.batch = 2;
        QCOMPARE(
            toJson(spec).dump(),
            std::string(
                R"({"batch":2,"hardware":"","layout":"","partition":"lathe","seed":0,"shapes":[["x",[4,3]]],"source":"zoo:mlp"})"));
        spec.sizes = {{"height", 640}}; // came later, and stands there only where it is used
        QVERIFY(toJson(spec).dump().find(R"("sizes":[["height",640]])") != std::string::npos);
        QVERIFY(modelSpecFromJson(toJson(spec).dump())->sizes == spec.sizes);
    }

    void optionsThatCameLaterStandInAProjectOnlyWhereTheyAreUsed()
    {
        struct Later
        {
            ~Later() { optionTable<ModelSpec>().pop_back(); }
            std::string value;
        } later;
        ModelSpec spec;
        const std::string before = toJson(spec).dump();
        Option<ModelSpec> row;
        row.flag = "--later";
        row.key = "later";
        row.sparse = true;
        row.get = [&later, &spec](const ModelSpec& of) { return &of == &spec ? later.value : std::string(); };
        row.set = [&later](ModelSpec&, const OptionValue& value) {
            later.value = std::get<std::string>(value);
            return true;
        };
        optionTable<ModelSpec>().push_back(row);
        QCOMPARE(toJson(spec).dump(), before);
        later.value = "much";
        QVERIFY(toJson(spec).dump().find(R"("later":"much")") != std::string::npos);
    }

    void theJsonOfARunHasTheKeysThatItHad()
    {
        const auto json = toJson(TuneOptions());
        for (const char* key :
             {"seconds",     "trials",     "trials_per_task",  "trials_per_round", "policy",        "scheduler",
              "devices",     "seed",       "repeat",           "number",           "min_repeat_ms", "timeout_s",
              "cooldown_ms", "early_stop", "min_gain_percent", "gain_window_s",    "build_jobs",    "cache",
              "runoff",      "strict",     "head_start"})
            QVERIFY2(json.contains(key), key);
        QCOMPARE(json.size(), std::size_t(21));
        QCOMPARE(json["min_repeat_ms"].get<double>(), 20.0);
        // Of the first projects: whole numbers for seconds, none of the later keys, one that is not known any more.
        const auto old = tuneOptionsFromJson(
            R"({"seconds": 60, "trials": 100, "policy": "sketch", "seed": 18446744073709551615, "gone": [1]})");
        QVERIFY(old);
        QCOMPARE(old->seconds, 60.0);
        QCOMPARE(old->seed, std::numeric_limits<std::uint64_t>::max());
        QCOMPARE(old->headStart, std::string("none"));
        QCOMPARE(old->runoff, std::string("off"));
        QVERIFY(!old->minRepeatMs);
    }

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
        row("--scheduler", [](TuneOptions& o) { o.scheduler = "lottery"; });
        row("--gain-window", [](TuneOptions& o) { o.gainWindowSeconds = 0; });
        row("--min-gain", [](TuneOptions& o) { o.minGainPercent = 101; });
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
        for (const char* shapes :
             {R"([["x", [1e300]]])", R"([["x", 4]])", R"([["x"]])", R"([[4, [4]]])", R"({"x": [4]})"})
            QVERIFY2(!modelSpecFromJson(R"({"shapes": )" + std::string(shapes) + "}"), shapes);
    }
};

LATHE_TEST(TestOptions)

} // namespace tst_options

#include "tst_options.moc"
