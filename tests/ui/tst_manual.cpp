#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/error_advice.h"
#include "ui/models/language.h"
#include "ui/models/manual.h"
#include "ui/shell/page_registry.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

namespace tst_manual {

using namespace lathe;

/// The bundled manual: its texts, and its window from outside.
class TestManual : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::ManualWindow* manual() const { return m_window->findChild<ui::ManualWindow*>(); }
    template<typename T>
    T* in(const char* name) const
    {
        return test::find<T>(manual(), name);
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        m_window = test::shownWindow();
    }

    void headingsWithAnIdBeginTopics()
    {
        const auto manual = ui::Manual::parse(
            "lost\n# One {one}\ntext\n## Two {two}\n### Not a topic {three}\nmore\n# No id\n");
        QCOMPARE(manual.topics().size(), std::size_t(2));
        QCOMPARE(manual.topics()[1].level, 2);
        QVERIFY(manual.find("one")->text.contains("text") && !manual.find("one")->text.contains("lost"));
        QVERIFY(manual.find("two")->text.contains("# No id"));
        QVERIFY(manual.find("three") == nullptr);
    }

    void titlesAreFoundBeforeTexts()
    {
        const auto manual = ui::Manual::parse(
            "# One {one}\nall about weights\n# Weights {two}\nheavy\n# Three {three}\nlight");
        const auto found = manual.search(" WEIGHTS ");
        QCOMPARE(found.size(), std::size_t(2));
        QCOMPARE(found.front(), std::size_t(1));
        QVERIFY(manual.search("weights light").empty());
        QVERIFY(manual.search("").empty());
    }

    void everyLanguageHasTheSameTopics()
    {
        const auto ids = [](const QString& language) {
            QStringList list;
            const auto manual = ui::Manual::load(language);
            for (const auto& topic : manual.topics())
                list << QStringLiteral("%1 %2").arg(topic.level).arg(topic.id);
            return list;
        };
        const QStringList english = ids("en");
        QVERIFY(english.size() > 20);
        for (const QString& language : ui::Language::available()) {
            QCOMPARE(ids(language), english);
            if (language != "en")
                QVERIFY2(ui::Manual::load(language).topics().front().title
                             != ui::Manual::load("en").topics().front().title,
                         qPrintable(language));
        }
        QCOMPARE(ids("tlh"), english); // a language without a manual has the English one
    }

    /// A link or F1 finds one topic alone.
    void noTopicStandsTwice()
    {
        for (const QString& language : ui::Language::available()) {
            const auto texts = ui::Manual::load(language);
            QSet<QString> ids;
            for (const auto& topic : texts.topics()) {
                QVERIFY2(!ids.contains(topic.id), qPrintable(language + ": " + topic.id));
                ids << topic.id;
            }
        }
    }

    void everyPageHasATopicThatSaysSomething()
    {
        for (const QString& language : ui::Language::available()) {
            const auto texts = ui::Manual::load(language);
            for (const ui::PageEntry& page : ui::pageTable()) {
                const auto* topic = texts.find(QLatin1String(page.id));
                QVERIFY2(topic != nullptr, page.id);
                QVERIFY2(topic->text.size() > topic->title.size() + 20, page.id);
            }
        }
    }

    void everyLinkLeadsToATopic()
    {
        const QRegularExpression link("\\]\\(([^)]+)\\)");
        for (const QString& language : ui::Language::available()) {
            const auto texts = ui::Manual::load(language);
            for (const auto& topic : texts.topics())
                for (auto match = link.globalMatch(topic.text); match.hasNext();) {
                    const QString target = match.next().captured(1);
                    QVERIFY2(target.endsWith(".md") && texts.find(target.chopped(3)) != nullptr,
                             qPrintable(topic.id + ": " + target));
                }
        }
    }

    void everyKindOfErrorIsExplained()
    {
        for (const QString& language : ui::Language::available()) {
            ui::Language::instance().set(language);
            const QString text = ui::Manual::load(language).find("errors")->text;
            for (const char* code : {"InvalidArgument", "NotFound", "Unsupported", "BadFile", "IllegalSchedule",
                                     "BuildFailed", "BuildTimeout", "RunTimeout", "WrongAnswer", "DeviceLost",
                                     "WorkerCrashed", "Cancelled", "StoreFailed", "Incompatible", "Internal"})
                QVERIFY2(text.contains("| " + ui::errorAdvice(QLatin1String(code)).title + " |"),
                         qPrintable(language + ": " + ui::errorAdvice(QLatin1String(code)).title));
        }
        ui::Language::instance().set("en");
    }

    void f1OpensTheTopicOfWhatHasTheFocus()
    {
        m_window->findChild<QWidget*>("startZoo")->setFocus();
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        QVERIFY(manual() != nullptr && manual()->isVisible());
        QCOMPARE(manual()->topic(), QString("start"));
        m_window->activateWindow();
        m_window->findChild<QComboBox*>("targetPicker")->setFocus();
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        QCOMPARE(m_window->findChildren<ui::ManualWindow*>().size(), 1);
        QCOMPARE(manual()->topic(), QString("run"));
        QVERIFY(in<QTextBrowser>("manualText")->toPlainText().contains("simulated device"));
        QCOMPARE(in<QTreeWidget>("manualContents")->currentItem()->text(0), QString("Run bar"));
    }

    void topicsAreWalkedBackAndForward()
    {
        manual()->showTopic("tasks");
        manual()->showTopic("glossary");
        auto* back = in<QToolButton>("manualBack");
        auto* forward = in<QToolButton>("manualForward");
        QVERIFY(back->isEnabled() && !forward->isEnabled());
        back->click();
        QCOMPARE(manual()->topic(), QString("tasks"));
        forward->click();
        QCOMPARE(manual()->topic(), QString("glossary"));
        manual()->showTopic("no-such-topic");
        QCOMPARE(manual()->topic(), QString("welcome"));
    }

    void searchShowsTopicsAndMarksTheWords()
    {
        auto* search = in<QLineEdit>("manualSearch");
        QTest::keyClicks(search, "roofline");
        QVERIFY(in<QLabel>("manualFound")->text().contains("found"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(manual()->topic(), QString("options")); // of commands that have it: before the glossary
        QVERIFY(!in<QTextBrowser>("manualText")->extraSelections().isEmpty());
        int shown = 0;
        for (QTreeWidgetItemIterator it(in<QTreeWidget>("manualContents")); *it != nullptr; ++it)
            shown += (*it)->isHidden() ? 0 : 1;
        QVERIFY(shown > 0 && shown < 6);
        search->setText("xyzzy");
        QCOMPARE(in<QLabel>("manualFound")->text(), QString("Nothing found"));
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(search->text().isEmpty() && manual()->isVisible());
        QVERIFY(in<QTextBrowser>("manualText")->extraSelections().isEmpty());
    }

    void theListOfKeysIsThatOfTheWindow()
    {
        m_window->findChild<QAction*>("help.keys")->trigger();
        QCOMPARE(manual()->topic(), QString("keys"));
        const QString text = in<QTextBrowser>("manualText")->toPlainText();
        QVERIFY(text.contains("Settings…") && text.contains("Ctrl+,"));
    }

    void theLanguageChangesWhileItIsOpen()
    {
        manual()->showTopic("tasks");
        ui::Language::instance().set("zh_CN");
        QCOMPARE(manual()->topic(), QString("tasks"));
        QVERIFY(in<QTextBrowser>("manualText")->toPlainText().contains(QString::fromUtf8("权重")));
        QVERIFY(!in<QTextBrowser>("manualText")->toPlainText().contains("how often the network has it"));
        ui::Language::instance().set("en");
        QVERIFY(in<QTextBrowser>("manualText")->toPlainText().contains("how often the network has it"));
    }

    void cleanupTestCase() { m_window.reset(); }
};

LATHE_TEST_GUI(TestManual)

} // namespace tst_manual

#include "tst_manual.moc"
