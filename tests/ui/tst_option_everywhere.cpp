#include "app/cli/command.h"
#include "app/cli/man_page.h"
#include "core/session/options/option_table.h"
#include "core/session/options/options_json.h"
#include "core/session/options/tune_options.h"
#include "core/session/report/comparison.h"
#include "core/store/project.h"
#include "tests/examples/option/proposer_option.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "ui/models/command_line.h"
#include "ui/models/manual.h"
#include "ui/models/option_list.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

/// An option that is added to the table, and to nothing else, is known to all that speak of options.
class TestOptionEverywhere : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::string m_saidTuner;
    std::vector<std::string> m_saidPasses;

    /// What the command line says is kept.
    void addTuner()
    {
        Option<TuneOptions> row = examples::proposerOption();
        row.set = [this, set = row.set](TuneOptions& options, const OptionValue& value) {
            m_saidTuner = std::get<std::string>(value);
            return set(options, value);
        };
        optionTable<TuneOptions>().push_back(row);
    }

    /// An option of models: in the names of shapes without dimensions.
    void addPasses()
    {
        Option<ModelSpec> row;
        row.flag = "--leave-out";
        row.type = OptionType::Texts;
        row.placeholder = "PASS";
        row.help = "Do without this pass";
        row.commands = {"tune", "compile"};
        row.key = "left_out";
        row.condition = "model: passes left out";
        row.serious = true;
        row.sparse = true;
        row.get = [](const ModelSpec& s) -> OptionValue {
            std::vector<std::string> names;
            for (const auto& [name, shape] : s.shapes)
                names.push_back(name);
            return names;
        };
        row.set = [this](ModelSpec& s, const OptionValue& value) {
            m_saidPasses = std::get<std::vector<std::string>>(value);
            for (const std::string& name : m_saidPasses)
                s.shapes.emplace_back(name, std::vector<std::int64_t>());
            return true;
        };
        optionTable<ModelSpec>().push_back(row);
    }

    static std::string helpOf(const char* command)
    {
        CLI::App app("", "lathe-cli");
        cli::Action run;
        cli::addCommands(app, run);
        return app.get_subcommand(command)->help();
    }
    static void say(std::vector<std::string> words)
    {
        CLI::App app("", "lathe-cli");
        cli::Action run;
        cli::addCommands(app, run);
        std::reverse(words.begin(), words.end()); // as CLI11 takes them
        app.parse(std::move(words));
    }

private slots:
    void initTestCase()
    {
        addTuner();
        addPasses();
    }
    void cleanupTestCase()
    {
        optionTable<TuneOptions>().pop_back();
        optionTable<ModelSpec>().pop_back();
    }

    void theCommandLineTakesIt()
    {
        say({"tune", "zoo:mlp", "--trials", "8", "--proposer", "ga", "--leave-out", "fold", "--leave-out", "fuse"});
        QCOMPARE(m_saidTuner, std::string("ga"));
        QVERIFY((m_saidPasses == std::vector<std::string>{"fold", "fuse"}));
        QVERIFY_EXCEPTION_THROWN(say({"tune", "zoo:mlp", "--proposer", "luck"}), CLI::ValidationError);
        QVERIFY_EXCEPTION_THROWN(say({"compile", "zoo:mlp", "--proposer", "ga"}), CLI::ExtrasError);
        QVERIFY_EXCEPTION_THROWN(say({"tasks", "zoo:mlp", "--leave-out", "fold"}), CLI::ExtrasError);
    }

    void flagsMayBeGivenAValue()
    {
        bool strict = false;
        Option<TuneOptions> row;
        row.flag = "--thorough";
        row.type = OptionType::Flag;
        row.help = "Look twice";
        row.commands = {"tune"};
        row.get = [](const TuneOptions&) -> OptionValue { return false; };
        row.set = [&strict](TuneOptions&, const OptionValue& value) {
            strict = std::get<bool>(value);
            return true;
        };
        optionTable<TuneOptions>().push_back(row);
        const auto after = qScopeGuard([] { optionTable<TuneOptions>().pop_back(); });
        say({"tune", "zoo:mlp", "--thorough"});
        QVERIFY(strict);
        say({"tune", "zoo:mlp", "--thorough=false"});
        QVERIFY(!strict);
        say({"tune", "zoo:mlp", "--thorough=true"});
        QVERIFY(strict);
        QVERIFY_EXCEPTION_THROWN(say({"tune", "zoo:mlp", "--thorough=maybe"}), CLI::ValidationError);
    }

    void helpSaysIt()
    {
        const QString help = QString::fromStdString(helpOf("tune"));
        QVERIFY2(help.contains("--proposer PROPOSER")
                     && help.contains(
                         "Who proposes the next configurations of a template (xgb, ga, random or grid; default: xgb)"),
                 qPrintable(help));
        QVERIFY(helpOf("compile").find("--leave-out") != std::string::npos
                && helpOf("tasks").find("--leave-out") == std::string::npos);
    }

    void projectsHoldIt()
    {
        TuneOptions tune;
        tune.trialsPerTask = 2;
        QCOMPARE(toJson(tune)["proposer"].get<std::string>(), std::string("random"));
        auto json = toJson(TuneOptions());
        json["proposer"] = "grid";
        QCOMPARE(must(tuneOptionsFromJson(json.dump())).trialsPerTask, std::int64_t{3});
        json["proposer"] = 3;
        QVERIFY(tuneOptionsFromJson(json.dump()).error().message.find("proposer") != std::string::npos);
        ModelSpec spec;
        QVERIFY(!toJson(spec).contains("left_out"));
        spec.shapes = {{"fold", {}}};
        QCOMPARE(toJson(spec)["left_out"].dump(), std::string(R"(["fold"])"));
    }

    void whatNoRunCanFollowIsRefused()
    {
        TuneOptions tune;
        tune.trialsPerTask = 9;
        QCOMPARE(check(tune).error().message,
                 std::string("--proposer is 'luck', it must be one of xgb, ga, random, grid"));
    }

    void comparisonsNameIt()
    {
        const auto project = [this](const char* name, const char* tuner, const char* leftOut) {
            const std::filesystem::path file = std::filesystem::path(m_dir.path().toStdString()) / name;
            store::Project p = must(store::Project::open(file, store::Project::Access::Write));
            const auto model = must(
                p.addModel({0, "0123456789abcdef", "zoo:net", "net", nlohmann::json{{"left_out", {leftOut}}}.dump()}));
            (void)must(
                p.addSession({0, model, "cpu", nlohmann::json{{"proposer", tuner}}.dump(), 1000, 60, "finished"}));
            return must(standing(file));
        };
        const std::vector<Standing> both{project("a.lathe", "ga", "fold"), project("b.lathe", "grid", "fuse")};
        std::map<std::string, ConditionRow> rows;
        for (const ConditionRow& row : conditionTable(both))
            rows[row.name] = row;
        QVERIFY((rows["proposer of templates"].values == std::vector<std::string>{"ga", "grid"})
                && rows["proposer of templates"].differs);
        QVERIFY(!rows["proposer of templates"].serious);
        QVERIFY(rows["model: passes left out"].differs && rows["model: passes left out"].serious);
    }

    void copiedCommandsSayIt()
    {
        OpenOptions open;
        open.model.source = "zoo:mlp";
        TuneOptions tune;
        tune.trials = 64;
        QCOMPARE(ui::tuneCommand(open, tune), QString("lathe-cli tune zoo:mlp --trials 64"));
        tune.trialsPerTask = 1;
        open.model.shapes = {{"fold", {}}};
        QVERIFY2(ui::tuneCommand(open, tune).endsWith(" --proposer ga"), qPrintable(ui::tuneCommand(open, tune)));
        QVERIFY(ui::tuneCommand(open, tune).contains(" --leave-out fold "));
        CompileOptions compile;
        compile.output = "lib.so";
        QVERIFY(ui::compileCommand(open, compile).contains(" --leave-out fold "));
        QVERIFY(!ui::tasksCommand(open).contains("leave-out"));
    }

    void theManPageHasIt()
    {
        CLI::App app("", "lathe-cli");
        cli::Action run;
        cli::addCommands(app, run);
        const std::string page = cli::manPage(app, "1.0");
        const auto tune = page.find("\n.SS tune\n"), next = page.find("\n.SS ", tune + 1),
                   tuner = page.find("\n\\fB\\-\\-proposer\\fR \\fIPROPOSER\\fR\nWho proposes", tune);
        QVERIFY(tune != std::string::npos && tuner != std::string::npos && tuner < next);
        QVERIFY(page.find("\\-\\-leave\\-out") != std::string::npos);
    }

    void theManualListsIt()
    {
        const QString list = ui::optionList();
        QVERIFY2(list.contains("| `--proposer` PROPOSER | Who proposes the next configurations of a template (xgb, ga, "
                               "random or grid; default: xgb) |"),
                 qPrintable(list));
        QVERIFY(list.contains(
            "\n`lathe-cli tune`, `lathe-cli compile`\n\n| option | description |\n|---|---|\n| `--leave-out` PASS |"));
    }

    void everyOptionOfTheTableIsInManPageAndManual()
    {
        CLI::App app("", "lathe-cli");
        cli::Action run;
        cli::addCommands(app, run);
        const std::string page = cli::manPage(app, "1.0"), list = ui::optionList().toStdString();
        for (const SetOption& option : allOptions()) {
            const std::string flag = option.info->flag.substr(option.info->flag.rfind(',') + 1);
            std::string dashes;
            for (const char c : flag)
                dashes += c == '-' ? std::string("\\-") : std::string(1, c);
            QVERIFY2(page.find(dashes) != std::string::npos, flag.c_str());
            QVERIFY2(list.find("`" + flag + "`") != std::string::npos, flag.c_str());
            for (const std::string& command : option.info->commands)
                QVERIFY2(app.get_subcommand(command)->get_option_no_throw(flag) != nullptr,
                         (command + " " + flag).c_str());
        }
    }
};

LATHE_TEST(TestOptionEverywhere)
#include "tst_option_everywhere.moc"
