#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/shell/page_registry.h"
#include "ui/shell/window_layout.h"
#include "ui/views/appearance.h"

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QAbstractProxyModel>
#include <QAction>
#include <QDir>
#include <QLabel>
#include <QListWidget>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

Q_DECLARE_METATYPE(lathe::test::Project)

namespace tst_every_page {

using namespace lathe;
using lathe::test::Project;

/// Every page of the window with a project that was never tuned, one of which all failed, and a large one; and some of
/// them beside pictures of how they are meant to look (tests/ui/goldens). LATHE_UPDATE_GOLDENS=1 takes new ones: look
/// at them.
class TestEveryPage : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)) + QStringLiteral(".lathe"); }

    void open(const QString& project)
    {
        auto* bridge = m_window->findChild<ui::SessionBridge*>();
        QVERIFY(bridge != nullptr);
        QSignalSpy opened(bridge, &ui::SessionBridge::opened);
        m_window->openSource(project);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
    }
    void show(const char* page)
    {
        auto* go = m_window->findChild<QAction*>(QStringLiteral("page.") + QLatin1String(page));
        QVERIFY2(go != nullptr, page);
        go->trigger();
    }

    /// The window once nothing moves any more.
    QImage settled()
    {
        QImage before, now;
        for (int i = 0; i < 60; ++i) {
            QTest::qWait(150);
            now = m_window->grab().toImage();
            if (now == before)
                break;
            before = now;
        }
        return now;
    }

    /// Small enough for the grain of the letters to be gone, large enough to see what is where.
    static QImage reduced(const QImage& image)
    {
        return image.scaled(image.width() / 4, image.height() / 4, Qt::IgnoreAspectRatio, Qt::SmoothTransformation)
            .convertToFormat(QImage::Format_RGB32);
    }

    /// Part of the pixels that differ clearly in some channel.
    static double difference(const QImage& a, const QImage& b)
    {
        if (a.size() != b.size())
            return 1;
        int count = 0;
        for (int y = 0; y < a.height(); ++y)
            for (int x = 0; x < a.width(); ++x) {
                const QColor p(a.pixel(x, y)), q(b.pixel(x, y));
                count += std::max({std::abs(p.red() - q.red()), std::abs(p.green() - q.green()),
                                   std::abs(p.blue() - q.blue())})
                                 > 40
                             ? 1
                             : 0;
            }
        return static_cast<double>(count) / (a.width() * a.height());
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        qputenv("TZ", "UTC");
        QLocale::setDefault(QLocale::c());
        QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9)); // a package that the window needs in any case
        ui::applyAppearance(ui::Appearance::Light);
        test::makeProject(file("empty"), Project::Empty);
        test::makeProject(file("failing"), Project::Failing);
        test::makeProject(file("huge"), Project::Huge);
        test::makeProject(file("mixed"), Project::Mixed);
        m_window = test::shownWindow({1280, 800});
        // Every model that a view shows keeps the rules of models, whatever is opened.
        std::set<QAbstractItemModel*> models;
        for (const QAbstractItemView* view : m_window->findChildren<QAbstractItemView*>())
            for (QAbstractItemModel* model = view->model(); model != nullptr;) {
                models.insert(model);
                const auto* proxy = qobject_cast<QAbstractProxyModel*>(model);
                model = proxy == nullptr ? nullptr : proxy->sourceModel();
            }
        std::erase_if(models, [](const QAbstractItemModel* m) {
            return !QByteArray(m->metaObject()->className()).startsWith("lathe::");
        }); // Qt's own
        QVERIFY2(models.size() >= 9, qPrintable(QString::number(models.size())));
        for (QAbstractItemModel* model : models)
            new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::Fatal, model);
    }

    void pagesTakeAnyProject_data()
    {
        QTest::addColumn<QString>("project");
        for (const char* name : {"empty", "failing", "huge"})
            QTest::newRow(name) << name;
    }
    /// No page stalls the window: the greatest gap between two beats of a timer stays below ten times what is aimed at
    /// (50 ms).
    void pagesTakeAnyProject()
    {
        QFETCH(QString, project);
        open(file(qPrintable(project)));
        qint64 worst = 0;
        QElapsedTimer beat;
        QTimer timer;
        connect(&timer, &QTimer::timeout, this, [&] { worst = std::max(worst, beat.restart()); });
        for (const ui::PageEntry& page : ui::pageTable()) {
            show(page.id);
            beat.start();
            timer.start(5);
            QTest::qWait(250);
            timer.stop();
            QVERIFY2(
                worst < 500,
                qPrintable(QStringLiteral("%1 holds the window for %2 ms").arg(QLatin1String(page.id)).arg(worst)));
            QVERIFY2(!m_window->grab().isNull(), page.id);
        }
        // Where there is nothing to see, the page says so: no view stands empty without a word.
        show("records");
        const int expected = project == QStringLiteral("empty") ? 0 : project == QStringLiteral("huge") ? 20000 : 96;
        auto* table = m_window->findChild<QAbstractItemView*>(QStringLiteral("recordTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), expected, 20000);
        for (const QLabel* label : m_window->findChildren<QLabel*>())
            if (label->isVisible())
                QVERIFY2(!label->text().contains(QStringLiteral("nan"), Qt::CaseInsensitive)
                             && !label->text().contains(QStringLiteral("inf ")),
                         qPrintable(label->objectName() + ": " + label->text()));
    }

    void pagesLookAsMeant_data()
    {
        QTest::addColumn<QString>("page");
        QTest::addColumn<bool>("dark");
        for (const char* page : {"network", "curves", "scheduler", "time"}) {
            QTest::addRow("%s", page) << page << false;
            QTest::addRow("%s, dark", page) << page << true;
        }
    }
    void pagesLookAsMeant()
    {
        QFETCH(QString, page);
        QFETCH(bool, dark);
        ui::applyAppearance(dark ? ui::Appearance::Dark : ui::Appearance::Light);
        auto* restore = m_window->findChild<QAction*>(QStringLiteral("view.defaultLayout"));
        QVERIFY(restore != nullptr);
        open(file("mixed"));
        restore->trigger();
        m_window->resize(1280, 800);
        show(qPrintable(page));
        const QImage now = reduced(settled());
        const QString golden = QDir(QStringLiteral(LATHE_GOLDENS))
                                   .filePath(page + (dark ? QStringLiteral("_dark.png") : QStringLiteral(".png")));
        if (qEnvironmentVariableIntValue("LATHE_UPDATE_GOLDENS") != 0) {
            QVERIFY(now.save(golden));
            return;
        }
        const QImage meant = QImage(golden).convertToFormat(QImage::Format_RGB32);
        QVERIFY2(!meant.isNull(), qPrintable(golden));
        const double differs = difference(now, meant);
        if (differs >= 0.02)
            now.save(QDir::temp().filePath(QStringLiteral("lathe_") + QFileInfo(golden).fileName()));
        QVERIFY2(differs < 0.02,
                 qPrintable(QStringLiteral("%1 % of the pixels differ; what was seen is in the temporary folder")
                                .arg(100 * differs, 0, 'f', 1)));
    }

    void cleanupTestCase()
    {
        ui::applyAppearance(ui::Appearance::Light);
        m_window.reset();
    }
};

LATHE_TEST_GUI(TestEveryPage)

} // namespace tst_every_page

#include "tst_every_page.moc"
