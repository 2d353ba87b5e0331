#include "core/session/options/tuner_views.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/run_options_dialog.h"
#include "ui/models/language.h"
#include "ui/models/tuner_parameter_model.h"
#include "ui/models/tuner_texts.h"
#include "ui/models/workspace.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QtTest>

namespace tst_run_options {

using namespace lathe;
using lathe::test::find;

/// How runs are to find candidates: what the dialog offers, says and keeps.
class TestRunOptions : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    static ui::RunOptionsDialog* shown(const session::SearchChoice& choice = {}, const session::TuneOptions& usual = {})
    {
        auto* dialog = new ui::RunOptionsDialog(usual, choice, 3, nullptr);
        dialog->show();
        return dialog;
    }
    static void pick(QComboBox* box, const QString& text)
    {
        const int index = box->findData(text) >= 0 ? box->findData(text) : box->findText(text);
        QVERIFY2(index >= 0, qPrintable(text));
        box->setCurrentIndex(index);
        emit box->activated(index);
    }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void everyPhraseOfCoreHasATranslation()
    {
        ui::Language::instance().set(QStringLiteral("zh_CN"));
        QStringList english;
        const auto look = [&english](const std::string& phrase) {
            if (!phrase.empty() && ui::tunerText(phrase) == QString::fromStdString(phrase))
                english << QString::fromStdString(phrase);
        };
        for (const session::PolicyView& policy : session::listPolicies())
            look(policy.help);
        for (const session::TunerView& tuner : session::listTuners()) {
            look(tuner.help);
            for (const session::TunerParameterView& parameter : tuner.parameters)
                look(parameter.help);
        }
        ui::Language::instance().set(QStringLiteral("en"));
        QVERIFY2(english.isEmpty(), qPrintable(english.join('\n')));
    }

    /// Where lupdate finds them: else the next update of the translations drops theirs.
    void everyPhraseOfCoreStandsInTheSources()
    {
        QFile file(QStringLiteral(LATHE_SOURCE_DIR "/ui/models/tuner_texts.cpp"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray source = file.readAll();
        QStringList missing;
        const auto look = [&](const std::string& phrase) {
            if (!phrase.empty()
                && !source.contains("QT_TRANSLATE_NOOP(\"Tuners\", \"" + QByteArray::fromStdString(phrase) + "\")"))
                missing << QString::fromStdString(phrase);
        };
        for (const session::PolicyView& policy : session::listPolicies())
            look(policy.help);
        for (const session::TunerView& tuner : session::listTuners()) {
            look(tuner.help);
            for (const session::TunerParameterView& parameter : tuner.parameters)
                look(parameter.help);
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    }

    void aPresetGoesWithItsPolicy()
    {
        QPointer<ui::RunOptionsDialog> dialog = shown();
        auto* preset = find<QComboBox>(dialog, "runPreset");
        auto* policy = find<QComboBox>(dialog, "runPolicy");
        pick(preset, "nvidia");
        QCOMPARE(preset->currentData().toString(), QString("nvidia"));
        pick(policy, "sketch");
        QVERIFY(preset->currentData().toString().isEmpty());
        QVERIFY(find<QLabel>(dialog, "runPresetHelp")->text().startsWith("Presets tune templates"));
        QCOMPARE(find<QSpinBox>(dialog, "runEarlyStop")->value(), 0);
        pick(policy, "template");
        QVERIFY(dialog->choice().preset.empty());
        // What was typed stays.
        pick(preset, "nvidia");
        find<QSpinBox>(dialog, "runEarlyStop")->setValue(7);
        pick(policy, "sketch");
        QCOMPARE(dialog->choice().earlyStopPerTask, std::int64_t{7});
        dialog->close();
    }

    void aPresetSaysWhatItSets()
    {
        QPointer<ui::RunOptionsDialog> dialog = shown();
        auto* policy = find<QComboBox>(dialog, "runPolicy");
        QCOMPARE(policy->currentText(), QString("sketch – Lathe's search"));
        QVERIFY(!find<QComboBox>(dialog, "runTuner")->isEnabled());
        pick(find<QComboBox>(dialog, "runPreset"), "nvidia");
        QCOMPARE(policy->currentData().toString(), QString("template"));
        const QString help = find<QLabel>(dialog, "runPresetHelp")->text();
        for (const char* word :
             {"--policy template", "--tuner xgb", "--trials-per-task 2000", "--early-stop-per-task 600", "--number 20"})
            QVERIFY2(help.contains(QLatin1String(word)), qPrintable(help));
        QCOMPARE(find<QComboBox>(dialog, "runTuner")->itemText(0),
                 QString("the preset's: xgb – boosted trees that guess throughput, of loops"));
        QCOMPARE(find<QSpinBox>(dialog, "runEarlyStop")->value(), 600);
        const session::SearchChoice choice = dialog->choice();
        QCOMPARE(choice.preset, std::string("nvidia"));
        QVERIFY(choice.tuner.empty());
        const session::TuneOptions options = session::withSearch({}, choice);
        QCOMPARE(options.tuner, std::string("xgb"));
        QCOMPARE(options.trialsPerTask, std::int64_t{2000});
        // Another preset takes back what this one brought.
        session::SearchChoice other;
        other.policy = "template";
        other.preset = "x86";
        QCOMPARE(session::withSearch(options, other).trialsPerTask, std::int64_t{0});
        QCOMPARE(session::withSearch(options, other).cache, std::string("cold"));
        dialog->close();
    }

    void aTunerShowsItsParameters()
    {
        session::SearchChoice held;
        held.policy = "template";
        held.tuner = "ga";
        held.tunerSettings = {"pop_size=50"};
        QPointer<ui::RunOptionsDialog> dialog = shown(held);
        auto* table = find<QTableView>(dialog, "tunerParameters")->model();
        QCOMPARE(table->index(0, ui::TunerParameterModel::NameColumn).data().toString(), QString("pop_size"));
        QCOMPARE(table->index(0, ui::TunerParameterModel::ValueColumn).data().toString(), QString("50"));
        QCOMPARE(table->index(0, ui::TunerParameterModel::UsualColumn).data().toString(), QString("100"));
        QCOMPARE(find<QComboBox>(dialog, "runTuner")->currentText(), QString("ga – breeding from good configurations"));
        const QModelIndex mutation = table->index(2, ui::TunerParameterModel::ValueColumn);
        QVERIFY(table->setData(mutation, "0.25", Qt::EditRole));
        QVERIFY(find<QLabel>(dialog, "runOptionsProblem")->text().isEmpty());
        QCOMPARE(dialog->choice().tunerSettings, (std::vector<std::string>{"pop_size=50", "mutation_prob=0.25"}));
        // Those of another tuner do not come along.
        pick(find<QComboBox>(dialog, "runTuner"), "random");
        QVERIFY(dialog->choice().tunerSettings.empty());
        pick(find<QComboBox>(dialog, "runPolicy"), "sketch");
        QVERIFY(dialog->choice().tuner.empty());
        dialog->close();
    }

    void aParameterThatIsRefusedStaysUntilItIsMended()
    {
        session::SearchChoice held;
        held.policy = "template";
        held.tuner = "ga";
        QPointer<ui::RunOptionsDialog> dialog = shown(held);
        QSignalSpy chosen(dialog, &ui::RunOptionsDialog::chosen);
        auto* table = find<QTableView>(dialog, "tunerParameters")->model();
        auto* ok = find<QPushButton>(dialog, "runOptionsOk");
        auto* problem = find<QLabel>(dialog, "runOptionsProblem");
        const QModelIndex size = table->index(0, ui::TunerParameterModel::ValueColumn),
                          mutation = table->index(2, ui::TunerParameterModel::ValueColumn);
        for (const char* wrong : {"2", "-0.1", "nan", "inf", "much"}) {
            table->setData(mutation, wrong, Qt::EditRole);
            QCOMPARE(problem->text(), QStringLiteral("mutation_prob takes a number from 0 to 1, not “%1”").arg(wrong));
            QCOMPARE(mutation.data().toString(), QString(wrong)); // to be seen, and mended
            QVERIFY(!ok->isEnabled());
            find<QSpinBox>(dialog, "runEarlyStop")->setValue(5); // whatever else is done
            find<QLineEdit>(dialog, "runTasks")->setText("0");
            find<QLineEdit>(dialog, "runTasks")->clear();
            QVERIFY(!ok->isEnabled() && !problem->text().isEmpty());
        }
        ok->click();
        QCOMPARE(chosen.size(), 0);
        // Of another policy it means nothing.
        pick(find<QComboBox>(dialog, "runPolicy"), "sketch");
        QVERIFY(ok->isEnabled());
        pick(find<QComboBox>(dialog, "runPolicy"), "template");
        QVERIFY(!ok->isEnabled());
        table->setData(mutation, "0.25", Qt::EditRole);
        QVERIFY(ok->isEnabled() && problem->text().isEmpty());
        table->setData(size, "1.5", Qt::EditRole);
        QCOMPARE(problem->text(), QString("pop_size takes a whole number from 1 to 100000, not “1.5”"));
        table->setData(size, "", Qt::EditRole); // the usual one
        QCOMPARE(dialog->choice().tunerSettings, std::vector<std::string>{"mutation_prob=0.25"});
        dialog->close();
        // What a project holds is looked at as well.
        held.tunerSettings = {"mutation_prob=nan"};
        dialog = shown(held);
        QVERIFY(!find<QPushButton>(dialog, "runOptionsOk")->isEnabled());
        dialog->close();
    }

    void theParametersKeepTheRulesOfModels()
    {
        ui::TunerParameterModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        for (const session::TunerView& tuner : session::listTuners()) {
            model.setTuner(tuner.parameters, {});
            QVERIFY(model.settings().empty());
        }
        QCOMPARE(ui::TunerParameterModel::numberText(0.0001), QString("0.0001"));
        QCOMPARE(ui::TunerParameterModel::numberText(1000000), QString("1000000"));
        QCOMPARE(ui::TunerParameterModel::numberText(9e15), QString("9000000000000000"));
        QCOMPARE(ui::TunerParameterModel::numberText(1e-12), QString("0.000000000001")); // and not 0
        QCOMPARE(ui::TunerParameterModel::numberText(0.3), QString("0.3"));
    }

    void whatNoRunCanFollowIsNotTaken()
    {
        QPointer<ui::RunOptionsDialog> dialog = shown();
        QSignalSpy chosen(dialog, &ui::RunOptionsDialog::chosen);
        auto* ok = find<QPushButton>(dialog, "runOptionsOk");
        find<QLineEdit>(dialog, "runTasks")->setText("0, 7");
        QCOMPARE(find<QLabel>(dialog, "runOptionsProblem")->text(),
                 QString("7 is not the number of a task: they go from 0 to 2"));
        QVERIFY(!ok->isEnabled());
        find<QLineEdit>(dialog, "runTasks")->setText("0 2");
        QVERIFY(ok->isEnabled());
        find<QLineEdit>(dialog, "runOperators")->setText("dense");
        ok->click();
        QCOMPARE(chosen.size(), 1);
        const auto choice = chosen.front().front().value<session::SearchChoice>();
        QCOMPARE(choice.tasks, (std::vector<std::string>{"0", "2"}));
        QCOMPARE(choice.operators, std::vector<std::string>{"dense"});
        QTRY_VERIFY(dialog.isNull());
    }

    void theChoiceStaysWithTheProject()
    {
        const QString file = m_dir.filePath(QStringLiteral("kept.lathe"));
        test::makeProject(file, test::Project::Mixed);
        const auto command = [](ui::MainWindow& window) {
            find<QAction>(&window, "copy.tune")->trigger();
            return QApplication::clipboard()->text();
        };
        const auto open = [&file](ui::MainWindow& window) {
            window.openSource(file);
            const auto* workspace = window.findChild<ui::Workspace*>();
            QTRY_VERIFY_WITH_TIMEOUT(workspace->session() != nullptr && !workspace->bridge().isOpening(), 20000);
        };
        {
            const auto window = test::shownWindow({1280, 800});
            open(*window);
            QVERIFY(!command(*window).contains("--policy"));
            find<QAction>(window.get(), "run.options")->trigger();
            auto* dialog = find<ui::RunOptionsDialog>(window.get(), "runOptionsDialog");
            pick(find<QComboBox>(dialog, "runPolicy"), "template");
            pick(find<QComboBox>(dialog, "runTuner"), "ga");
            find<QPushButton>(dialog, "runOptionsOk")->click();
            const QString said = command(*window);
            QVERIFY2(said.contains("--policy template") && said.contains("--tuner ga"), qPrintable(said));
            QTRY_COMPARE(find<QLabel>(window.get(), "remainingLabel")->text(),
                         QString("The next run: policy template, tuner ga"));
        }
        const auto again = test::shownWindow({1280, 800});
        open(*again);
        const QString said = command(*again);
        QVERIFY2(said.contains("--policy template") && said.contains("--tuner ga"), qPrintable(said));
    }
};

LATHE_TEST_GUI(TestRunOptions)

} // namespace tst_run_options

#include "tst_run_options.moc"
