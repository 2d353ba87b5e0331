#include "tests/support/test_program.h"
#include "ui/views/graph_layouter.h"
#include "ui/views/graph_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_graph_view_layout {

using namespace lathe;

namespace {

ui::GraphShape diamond()
{
    return {5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {3, 4}}, {{1, 2}, {4, 4}}};
}

std::shared_ptr<session::GraphView> chain(int nodes)
{
    auto graph = std::make_shared<session::GraphView>();
    for (int i = 0; i < nodes; ++i) {
        session::NodeView node;
        node.id = i;
        node.op = node.name = "relu";
        graph->nodes.push_back(node);
        if (i > 0)
            graph->edges.push_back({i - 1, i, {}});
    }
    return graph;
}

} // namespace

class TestGraphViewLayout : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    /// A program that stands in for lathe-layout.
    QString script(const QString& name, const QByteArray& body)
    {
        QFile file(m_dir.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write("#!/bin/sh\n" + body + "\n");
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return file.fileName();
    }
    std::unique_ptr<ui::GraphLayouter> layouter()
    {
        auto result = std::make_unique<ui::GraphLayouter>();
        result->setCacheFolder(m_dir.filePath(QStringLiteral("cache-%1").arg(QRandomGenerator::global()->generate())));
        return result;
    }
    QString failure(const QString& program, std::chrono::milliseconds deadline = std::chrono::minutes(1))
    {
        const auto asked = layouter();
        asked->setProgram(program);
        asked->setDeadline(deadline);
        QSignalSpy failed(asked.get(), &ui::GraphLayouter::failed);
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        if (asked->ask(diamond()) || !(failed.size() == 1 || failed.wait(30000)) || !done.isEmpty()
            || asked->isWaiting())
            return QStringLiteral("(no failure)");
        return failed.front().front().toString();
    }

private slots:
    void initTestCase() { QVERIFY(m_dir.isValid()); }

    void dotLaysOutFromTopToBottom()
    {
        const auto asked = layouter();
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        QVERIFY(!asked->ask(diamond()));
        QVERIFY(done.wait(30000));
        const auto layout = done.front().front().value<ui::GraphLayout>();
        for (const auto& [from, to] : diamond().edges)
            QVERIFY(layout.centers[from].y() < layout.centers[to].y());
        QCOMPARE(layout.centers[1].y(), layout.centers[2].y());
        QVERIFY(std::abs(layout.centers[1].x() - layout.centers[2].x()) > ui::GraphLayout::kItemSize.width());
        const double down = ui::GraphLayout::kItemSize.height() / 2;
        for (std::size_t e = 0; e < diamond().edges.size();
             ++e) { // from the middle of one side to the middle of the other
            const auto [from, to] = diamond().edges[e];
            const QPolygonF& spline = layout.edges[static_cast<qsizetype>(e)];
            QVERIFY(QLineF(spline.front(), layout.centers[from] + QPointF(0, down)).length() < 2);
            QVERIFY(QLineF(spline.back(), layout.centers[to] - QPointF(0, down)).length() < 2);
        }
        QVERIFY(layout.frames[0].contains(layout.centers[1]) && layout.frames[0].contains(layout.centers[2]));
        QVERIFY(!layout.frames[0].contains(layout.centers[3]));
    }

    void aBranchOfOneNodeARankIsStraight()
    {
        // Two residual blocks: three nodes below each other, and a tensor past them, which bends.
        const ui::GraphShape shape{8, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}, {4, 5}, {5, 6}, {3, 6}, {6, 7}}, {}};
        const auto asked = layouter();
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        QVERIFY(!asked->ask(shape));
        QVERIFY(done.wait(30000));
        const auto layout = done.front().front().value<ui::GraphLayout>();
        for (std::size_t e = 0; e < shape.edges.size(); ++e) {
            const auto [from, to] = shape.edges[e];
            if (to != from + 1)
                continue;
            QVERIFY2(std::abs(layout.centers[from].x() - layout.centers[to].x()) < 0.6,
                     qPrintable(QStringLiteral("%1 to %2").arg(from).arg(to)));
            for (const QPointF& point : layout.edges[static_cast<qsizetype>(e)])
                QVERIFY(std::abs(point.x() - layout.centers[from].x()) < 0.6);
        }
    }

    void whatIsRememberedNeedsNoProgram()
    {
        const auto asked = layouter();
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        QVERIFY(!asked->ask(diamond()));
        QVERIFY(done.wait(30000));
        asked->setProgram(m_dir.filePath("none"));
        const auto known = asked->ask(diamond());
        QVERIFY(known.has_value());
        QCOMPARE(known->centers, done.front().front().value<ui::GraphLayout>().centers);
        ui::GraphShape other = diamond();
        other.edges.emplace_back(1, 4);
        QVERIFY(!asked->ask(other));
    }

    void aDamagedMemoryIsAskedAnew()
    {
        const auto asked = layouter();
        const QDir cache(m_dir.filePath("damaged"));
        asked->setCacheFolder(cache.path());
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        QVERIFY(!asked->ask(diamond()));
        QVERIFY(done.wait(30000));
        const QStringList files = cache.entryList(QDir::Files);
        QCOMPARE(files.size(), 1);
        QFile file(cache.filePath(files.front()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("nonsense");
        file.close();
        QVERIFY(!asked->ask(diamond()));
        QVERIFY(done.wait(30000));
        QVERIFY(asked->ask(diamond()).has_value());
    }

    void theMemoryIsBounded()
    {
        const auto asked = layouter();
        const QDir cache(m_dir.filePath("bounded"));
        asked->setCacheFolder(cache.path());
        asked->setCacheLimit(700); // a few small answers
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        for (int i = 1; i < 12; ++i) {
            ui::GraphShape shape{i, {}, {}};
            QVERIFY(!asked->ask(shape));
            QVERIFY(done.wait(30000));
        }
        qint64 bytes = 0;
        for (const QFileInfo& info : cache.entryInfoList(QDir::Files))
            bytes += info.size();
        QVERIFY(bytes > 0 && bytes <= 700);
    }

    void onlyTheLastQuestionIsAnswered()
    {
        const auto asked = layouter();
        QSignalSpy done(asked.get(), &ui::GraphLayouter::laidOut);
        asked->setProgram(script("forever", "sleep 600"));
        QVERIFY(!asked->ask({3, {}, {}}));
        asked->setProgram(ui::GraphLayouter::findProgram());
        QVERIFY(!asked->ask(diamond()));
        QVERIFY(done.wait(30000));
        QCOMPARE(done.size(), 1);
        QCOMPARE(done.front().front().value<ui::GraphLayout>().centers.size(), 5);
    }

    void eachFailureSaysWhatHappened()
    {
        QVERIFY2(failure(m_dir.filePath("missing")).contains(m_dir.filePath("missing")), "a missing program is named");
        QCOMPARE(failure(script("crash", "cat > /dev/null; kill -SEGV $$")),
                 QString("The graph layout program crashed."));
        QCOMPARE(failure(script("hang", "exec sleep 600"), std::chrono::milliseconds(50)),
                 QString("The graph layout took longer than 0.05 s and was stopped."));
        QCOMPARE(failure(script("mute", "cat > /dev/null")), QString("The graph layout program returned no layout."));
        QCOMPARE(failure(script("wrong", "cat > /dev/null; echo 'no memory' >&2; exit 1")),
                 QString("The graph layout program failed: no memory"));
    }

    void theProgramRefusesWhatIsNoGraph_data()
    {
        QTest::addColumn<QByteArray>("question");
        QTest::addColumn<QByteArray>("complaint");
        QTest::newRow("nothing") << QByteArray() << QByteArray("a graph begins with the line 'lathe-layout 1'");
        QTest::newRow("other version") << QByteArray("lathe-layout 2\nend\n")
                                       << QByteArray("a graph begins with the line 'lathe-layout 1'");
        QTest::newRow("truncated") << QByteArray("lathe-layout 1\nitem 1 1\n")
                                   << QByteArray("the graph stops before its 'end'");
        QTest::newRow("an edge to nowhere")
            << QByteArray("lathe-layout 1\nitem 1 1\nedge 0 1\nend\n") << QByteArray("line 3 ");
        QTest::newRow("frames that cross")
            << QByteArray("lathe-layout 1\nitem 1 1\nitem 1 1\nitem 1 1\nframe 0 1\nframe 1 2\nend\n")
            << QByteArray("line 6 ");
        QTest::newRow("a size that is none")
            << QByteArray("lathe-layout 1\nitem 1 nan\nend\n") << QByteArray("line 2 ");
    }
    void theProgramRefusesWhatIsNoGraph()
    {
        QFETCH(QByteArray, question);
        QFETCH(QByteArray, complaint);
        QProcess program;
        program.start(ui::GraphLayouter::findProgram(), QStringList());
        program.write(question);
        program.closeWriteChannel();
        QVERIFY(program.waitForFinished(30000));
        QCOMPARE(program.exitCode(), 1);
        QVERIFY2(program.readAllStandardError().startsWith(complaint), complaint);
        QVERIFY(program.readAllStandardOutput().isEmpty());
    }

    void answersThatDoNotFitAreRefused()
    {
        const ui::GraphShape shape{1, {}, {}};
        QVERIFY(ui::readLayout("lathe-layout 1\nsize 20 10\nitem 10 5\nend\n", shape).has_value());
        for (const char* answer :
             {"", "lathe-layout 2\nsize 20 10\nitem 10 5\nend\n", "lathe-layout 1\nsize 20 10\nitem 10\nend\n",
              "lathe-layout 1\nsize 20 10\nitem 10 x\nend\n", "lathe-layout 1\nsize 20 10\nitem 10 nan\nend\n",
              "lathe-layout 1\nsize 20 10\nedge 10 5\nend\n", "lathe-layout 1\nsize 0 10\nitem 10 5\nend\n",
              "lathe-layout 1\nsize 20 10\nitem 10 5\nitem 10 5\nend\n"})
            QVERIFY2(!ui::readLayout(answer, shape).has_value(), answer);
    }

    void theViewIsUsableBeforeTheLayoutIsThere()
    {
        ui::GraphView view;
        view.resize(500, 400);
        view.layouter().setCacheFolder(m_dir.filePath("slow"));
        view.layouter().setProgram(script("slow", "exec sleep 600"));
        view.setGraph(chain(20));
        QVERIFY(view.layouter().isWaiting());
        view.selectNode(7);
        QCOMPARE(view.selectedNode(), 7);
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.selectedNode(), 8);
        QVERIFY(!view.grab().isNull());
    }

    void aFailedLayoutLeavesThePlainOneAndSaysSo()
    {
        ui::GraphView view;
        view.resize(500, 400);
        view.layouter().setCacheFolder(m_dir.filePath("failed"));
        view.layouter().setProgram(m_dir.filePath("missing"));
        QSignalSpy failed(&view, &ui::GraphView::layoutFailed);
        QSignalSpy ready(&view, &ui::GraphView::layoutReady);
        view.setGraph(chain(20));
        QTRY_COMPARE(failed.size(), 1);
        QCOMPARE(ready.size(), 0);
        QVERIFY(view.nodeRect(0).bottom() < view.nodeRect(1).top());
        view.layouter().setProgram(ui::GraphLayouter::findProgram());
        view.setGraph(chain(21));
        QTRY_COMPARE(ready.size(), 1);
        QVERIFY(view.nodeRect(0).bottom() < view.nodeRect(1).top());
    }
};

LATHE_TEST_GUI(TestGraphViewLayout)

} // namespace tst_graph_view_layout

#include "tst_graph_view_layout.moc"
