#include "tests/support/template_project.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

namespace tst_template_trials {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;
using lathe::test::TemplateProject;

/// What a history tells of the trials that templates made.
class TestTemplateTrials : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::string file(const char* name) const { return m_dir.filePath(QLatin1String(name)).toStdString(); }
    static std::unique_ptr<TuningSession> open(const std::string& project)
    {
        OpenOptions options;
        options.project = project;
        return must(TuningSession::open(options));
    }
    static TemplateHistory read(const std::string& project, std::int32_t task)
    {
        const auto session = open(project);
        const auto history = must(session->history());
        return must(history->templateTrials(task, {}));
    }

private slots:
    void everyTrialIsToldWithWhatItsKnobsHad()
    {
        const std::string project = file("told.lathe");
        const TemplateProject made = test::makeTemplateProject(project, 24, 0);
        QVERIFY(made.task >= 0);
        const TemplateHistory history = read(project, made.task);
        QCOMPARE(history.origins, std::vector<std::string>{"sim"});
        QCOMPARE(history.templates.size(), std::size_t{1});
        const TemplateTrials& trials = history.templates.front();
        QCOMPARE(trials.name, made.name);
        QCOMPARE(trials.configs.size(), made.configs.size());
        for (std::size_t i = 0; i < made.configs.size(); ++i) {
            const TriedConfig& config = trials.configs[i];
            QCOMPARE(config.trial, TemplateProject::trial(i));
            QCOMPARE(config.code, std::string(TemplateProject::failed(i) ? "RunTimeout" : "Ok"));
            QCOMPARE(std::isnan(config.costMs), TemplateProject::failed(i));
            if (!TemplateProject::failed(i))
                QCOMPARE(config.costMs, made.costsMs[i]);
            for (std::size_t k = 0; k < trials.knobs.size(); ++k) {
                const templates::Entity* chosen = made.configs[i].find(trials.knobs[k].name);
                QVERIFY(chosen != nullptr);
                QCOMPARE(trials.knobs[k].values[static_cast<std::size_t>(config.values[k])].text,
                         templates::entityText(*chosen));
            }
        }
    }

    /// As the template lists them: neighbours on an axis are neighbours in the space.
    void valuesStandInTheOrderOfTheChoices()
    {
        const std::string project = file("order.lathe");
        const TemplateProject made = test::makeTemplateProject(project, 30, 0);
        const TemplateHistory history = read(project, made.task);
        std::size_t several = 0;
        for (const TriedKnob& knob : history.templates.front().knobs) {
            several += knob.values.size() > 2 ? 1 : 0;
            for (std::size_t v = 1; v < knob.values.size(); ++v)
                QVERIFY(knob.values[v - 1].place < knob.values[v].place);
            for (const TriedKnob::Value& value : knob.values)
                QVERIFY(value.place >= 0);
        }
        QVERIFY(several > 0);
    }

    void theFastestOfBothWaysAreTold()
    {
        const std::string project = file("ways.lathe");
        const TemplateProject made = test::makeTemplateProject(project, 16, 0.5);
        const TemplateHistory history = read(project, made.task);
        QCOMPARE(history.byTemplate.name, made.name);
        QCOMPARE(history.byTemplate.costMs, 1.0);
        QCOMPARE(history.byTemplate.trial, TemplateProject::trial(0));
        QCOMPARE(history.byTemplate.config, templates::configText(made.configs.front()));
        QCOMPARE(history.bySearch.name, std::string("lathe-cpu/1:direct"));
        QCOMPARE(history.bySearch.costMs, 0.5);
        // The sketch is no configuration.
        QCOMPARE(history.templates.front().configs.size(), std::size_t{16});
    }

    void aTaskWithoutTrialsHasNone()
    {
        const std::string project = file("none.lathe");
        const TemplateProject made = test::makeTemplateProject(project, 8, 0);
        const TemplateHistory other = read(project, made.task == 0 ? 1 : 0);
        QVERIFY(other.templates.empty());
        QVERIFY(other.byTemplate.name.empty());
        const auto session = open(project);
        const auto history = must(session->history());
        const auto nowhere = history->templateTrials(1000, {});
        QVERIFY(!nowhere);
        QVERIFY(nowhere.error().code == Errc::InvalidArgument);
    }

    void readingStopsWhenItIsAskedTo()
    {
        const std::string project = file("stopped.lathe");
        const TemplateProject made = test::makeTemplateProject(project, 8, 0);
        const auto session = open(project);
        const auto history = must(session->history());
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = history->templateTrials(made.task, stop.get_token());
        QVERIFY(!stopped);
        QVERIFY(stopped.error().code == Errc::Cancelled);
    }
};

LATHE_TEST(TestTemplateTrials)

} // namespace tst_template_trials

#include "tst_template_trials.moc"
