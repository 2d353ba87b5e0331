#include "core/session/loaded_model.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/weights_dialog.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/network_page.h"
#include "ui/pages/properties_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/views/graph_view.h"
#include "ui/views/histogram_view.h"
#include "ui/views/value_grid.h"

#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSemaphore>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

namespace tst_weights_dialog {

using namespace lathe;
using lathe::test::find;

class TestWeightsDialog : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        lathe::test::settleIn(m_dir.path());
    }

    void rowsAreTrailingDimensions()
    {
        ui::ValueGrid grid;
        grid.setTensor({64, 3, 7, 7}, [](std::int64_t i) { return QString::number(i); });
        QCOMPARE(grid.columns(), 49); // 7 alone would be few
        QCOMPARE(grid.rows(), 192);
        QCOMPARE(grid.placeOf(150), QStringLiteral("[1, 0, 0, 3]"));
        QCOMPARE(grid.indexOf(QStringLiteral("1, 0, 0, 3")), 150);
        QCOMPARE(grid.indexOf(QStringLiteral("[1][0][0][3]")), 150);
        QCOMPARE(grid.indexOf(QStringLiteral("150")), 150);
        for (const char* wrong : {"", "64, 0, 0, 0", "1, 2", "-1", "999999", "0, 0, 0, -1"})
            QCOMPARE(grid.indexOf(QLatin1String(wrong)), -1);
        grid.setTensor({}, [](std::int64_t) { return QStringLiteral("scalar"); });
        QCOMPARE(grid.rows() * grid.columns(), 1);
        grid.setTensor({4, 0}, {});
        QCOMPARE(grid.rows() * grid.columns(), 0);
        grid.grab(); // nothing to see, and nothing breaks
    }

    void aHundredMillionValuesScrollQuickly_data()
    {
        QTest::addColumn<QList<qint64>>("shape");
        QTest::addRow("a matrix") << QList<qint64>{10000, 10000};
        QTest::addRow("a row each") << QList<qint64>{100000000};
        QTest::addRow("four billion rows") << QList<qint64>{4000000000, 8};
    }

    void aHundredMillionValuesScrollQuickly()
    {
        QFETCH(QList<qint64>, shape);
        std::int64_t count = 1;
        for (const qint64 extent : shape)
            count *= extent;
        ui::ValueGrid grid;
        grid.resize(800, 500);
        std::int64_t asked = 0;
        grid.setTensor({shape.begin(), shape.end()}, [&asked](std::int64_t i) {
            ++asked;
            return QString::number(i);
        });
        grid.show();
        QVERIFY(QTest::qWaitForWindowExposed(&grid));
        asked = 0;
        QElapsedTimer timer;
        timer.start();
        grid.grab();
        QVERIFY2(asked < 1000, qPrintable(QString::number(asked))); // what is seen alone
        QTest::keyClick(&grid, Qt::Key_End, Qt::ControlModifier);
        QCOMPARE(grid.current(), count - 1);
        grid.grab();
        QCOMPARE(grid.seen().back().back(), QString::number(count - 1));
        QTest::keyClick(&grid, Qt::Key_Up);
        QTest::keyClick(&grid, Qt::Key_Home, Qt::ControlModifier);
        QCOMPARE(grid.current(), 0);
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
    }

    void theHistogramShowsWhatOccurs()
    {
        ui::HistogramView view;
        view.resize(300, 120);
        view.setCounts({1, 0, 1000}, -1, 2);
        const QImage linear = view.grab().toImage();
        view.setLogarithmic(true);
        QVERIFY(view.grab().toImage() != linear);
        const auto rows = view.exportRows();
        QCOMPARE(rows.size(), std::size_t(4));
        QCOMPARE(rows[3], (QStringList{"1", "2", "1000"}));
        view.setCounts({}, 0, 0);
        QVERIFY(view.pictureSize().isEmpty());
    }

    void theDialogShowsSavesAndCopies()
    {
        auto model = std::make_shared<session::LoadedModel>();
        const float values[] = {0, 1, -2, 3, 0, 5, 6, 7, 8, 9, 10, 12};
        model->graph.addConstant("first/w", DType::F32, {2, 6}, graph::makeConst(values, sizeof values));
        const std::int8_t small[] = {1, -1};
        model->graph.addConstant("second", DType::I8, {2}, graph::makeConst(small, sizeof small));
        auto graph = std::make_shared<session::GraphView>();
        session::NodeView node;
        node.name = "conv1";
        node.origin = "/stem/Conv";
        node.op = "conv2d";
        node.inputs = {{"x", "float32", {1, 6}}, {"first/w", "float32", {2, 6}, {}, 0}, {"second", "int8", {2}, {}, 1}};
        graph->nodes.push_back(node);
        auto* dialog = new ui::WeightsDialog(graph, std::make_shared<session::Weights>(model), nullptr);
        const QPointer<ui::WeightsDialog> alive(dialog);
        dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(dialog));
        QCOMPARE(find<QComboBox>(dialog, "weightsChoice")->count(), 2);
        QTRY_COMPARE(find<QLabel>(dialog, "weightsMax")->text(), QStringLiteral("12"));
        QCOMPARE(find<QLabel>(dialog, "weightsMin")->text(), QStringLiteral("-2"));
        QCOMPARE(find<QLabel>(dialog, "weightsZeros")->text(), QStringLiteral("2 (16.7 %)"));
        QCOMPARE(find<QLabel>(dialog, "weightsNans")->text(), QStringLiteral("0"));
        QVERIFY(find<QLabel>(dialog, "weightsWhat")->text().contains(QLatin1String("/stem/Conv")));
        auto* grid = find<ui::ValueGrid>(dialog, "weightsValues");
        QTRY_COMPARE(grid->seen().at(1).at(3), QStringLiteral("-2"));
        auto* field = find<QLineEdit>(dialog, "weightsGoTo");
        QTest::keyClicks(field, "1, 0");
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(grid->current(), 6);
        QTest::keyClick(grid, Qt::Key_Right, Qt::ShiftModifier);
        QTest::keyClick(grid, Qt::Key_C, Qt::ControlModifier);
        QTRY_COMPARE(QApplication::clipboard()->text(), QStringLiteral("6\t7\n"));
        const QString file = m_dir.filePath(QStringLiteral("w.npy"));
        dialog->save(file);
        QTRY_VERIFY(find<QLabel>(dialog, "weightsState")->text().contains(file));
        QFile saved(file);
        QVERIFY(saved.open(QIODevice::ReadOnly));
        QVERIFY(saved.readAll().contains("'shape': (2, 6)"));
        dialog->showConstant(1);
        QTRY_COMPARE(find<QLabel>(dialog, "weightsMin")->text(), QStringLiteral("-1"));
        QTest::mouseClick(find<QPushButton>(dialog, "weightsClose"), Qt::LeftButton);
        QTRY_VERIFY(alive.isNull());
    }

    void aDerivedConstantIsCalledByWhatItCameFrom()
    {
        const auto title = [](std::vector<std::string> sources, std::vector<std::string> steps) {
            session::TensorView tensor{"made/up_7", "float32", {4}, {}, 0};
            tensor.derived = true;
            tensor.sources = std::move(sources);
            tensor.steps = std::move(steps);
            return ui::weightTitle(tensor, QStringLiteral("/stem/Conv"));
        };
        QCOMPARE(ui::weightTitle({"conv1.weight", "float32", {4}, {}, 0}, {}), QStringLiteral("conv1.weight"));
        QCOMPARE(title({"conv1.weight"}, {"layout", "scale"}),
                 QStringLiteral("conv1.weight, reordered for the layout, scaled"));
        QCOMPARE(title({"conv1.weight"}, {"rsqrt", "reshape", "expand_dims"}),
                 QStringLiteral("conv1.weight, computed, reshaped"));
        QCOMPARE(title({"bn.weight", "bn.bias"}, {"multiply"}), QStringLiteral("bn.weight, bn.bias, combined"));
        QCOMPARE(title({"bn.weight", "bn.bias", "bn.mean", "bn.var"}, {"multiply", "reshape"}),
                 QStringLiteral("bn.weight, bn.bias, 2 more, combined, reshaped"));
        QCOMPARE(title({}, {}), QStringLiteral("constant of /stem/Conv"));
    }

    void statisticsAreStopped()
    {
        // A constant that is made while it is looked at, for as long as the test wants.
        QSemaphore go;
        auto model = std::make_shared<session::LoadedModel>();
        model->graph.addConstant("slow", DType::I8, {4},
                                 graph::makeConstLater(4, 0, [&go]() -> Result<std::vector<std::byte>> {
                                     go.acquire();
                                     return std::vector<std::byte>(4, std::byte{7});
                                 }));
        auto graph = std::make_shared<session::GraphView>();
        session::NodeView node;
        node.inputs = {{"slow", "int8", {4}, {}, 0}};
        graph->nodes.push_back(node);
        ui::WeightsDialog dialog(graph, std::make_shared<session::Weights>(model), nullptr);
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        auto* stop = find<QPushButton>(&dialog, "weightsStop");
        QTRY_VERIFY(stop->isVisible());
        QTest::mouseClick(stop, Qt::LeftButton);
        go.release(100);
        QTRY_COMPARE(find<QLabel>(&dialog, "weightsState")->text(), QStringLiteral("The statistics were stopped."));
        QCOMPARE(find<QLabel>(&dialog, "weightsMin")->text(), QStringLiteral("…"));
        QTest::mouseClick(stop, Qt::LeftButton); // and begun anew
        QTRY_COMPARE(find<QLabel>(&dialog, "weightsMin")->text(), QStringLiteral("7"));
        QVERIFY(!stop->isVisible());
    }

    void aNodeLeadsToItsWeights()
    {

        ui::Workspace workspace;
        ui::PropertiesPage properties(workspace, nullptr);
        ui::NetworkPage network(workspace, nullptr);
        ui::TasksPage tasks(workspace, nullptr);
        static_cast<QWidget&>(properties).show();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(QStringLiteral("zoo:mlp"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
        const auto graph = workspace.session()->graph();
        const auto reads = [](const session::TensorView& input) { return input.constant >= 0; };
        const auto node = std::ranges::find_if(graph->nodes, [&reads](const session::NodeView& n) {
            return n.task >= 0 && std::ranges::any_of(n.inputs, reads);
        });
        QVERIFY(node != graph->nodes.end());
        auto* show = find<QPushButton>(&properties, "propertiesWeights");
        QVERIFY(!show->isVisible());
        workspace.selection().selectNode(node->id, node->task);
        QTRY_VERIFY(show->isVisible());
        auto* tree = find<QTreeWidget>(&properties, "properties");
        QTreeWidgetItem* const item = tree->topLevelItem(0);
        QStringList rows;
        for (int row = 0; row < item->childCount(); ++row)
            rows << item->child(row)->text(0) + QLatin1Char('=') + item->child(row)->text(1);
        const QString all = rows.join(QLatin1Char('\n'));
        const session::TensorView& weight = *std::ranges::find_if(node->inputs, reads);
        QVERIFY2(
            all.contains(
                QStringLiteral("weight %1=float32 %2").arg(QString::fromStdString(weight.name), ui::shapeText(weight))),
            qPrintable(all));
        QVERIFY2(all.contains(QStringLiteral("Task=#%1").arg(node->task)), qPrintable(all));
        QTreeWidgetItem* const held = tree->topLevelItem(0)->child(
            static_cast<int>(rows.indexOf(QRegularExpression(QStringLiteral("^weight .*")))));
        QTRY_COMPARE(held->childCount(), 1);
        QVERIFY2(held->child(0)->text(1).contains(QStringLiteral(", mean ")), qPrintable(held->child(0)->text(1)));
        // The Tasks table has the same number.
        auto* table = find<QTableView>(&tasks, "taskTable");
        QStringList numbers;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            numbers << table->model()->index(row, ui::TaskModel::NumberColumn).data().toString();
        QVERIFY(numbers.contains(QStringLiteral("#%1").arg(node->task)));
        QCOMPARE(table->horizontalHeader()->visualIndex(ui::TaskModel::NumberColumn), 0);
        QTest::mouseClick(show, Qt::LeftButton);
        auto* dialog = properties.findChild<ui::WeightsDialog*>();
        QVERIFY(dialog != nullptr);
        QVERIFY(
            find<QComboBox>(dialog, "weightsChoice")->currentText().startsWith(QString::fromStdString(weight.name)));
        QTRY_VERIFY(find<QLabel>(dialog, "weightsMean")->text() != QStringLiteral("…"));
        // The way through the whole network, in words.
        auto* drawn = find<ui::GraphView>(&network, "graphView");
        auto* way = find<QLabel>(&network, "graphWay");
        drawn->showWay(0, static_cast<int>(graph->nodes.size()) - 1);
        QVERIFY2(way->text().contains(QStringLiteral("1 path, %1 edges long, through %2 nodes")
                                          .arg(graph->nodes.size() - 1)
                                          .arg(graph->nodes.size())),
                 qPrintable(way->text()));
        QVERIFY(!way->parentWidget()->isHidden());
        find<QToolButton>(&network, "graphWayHide")->click();
        QVERIFY(way->parentWidget()->isHidden());
        // Another one of the same network is shown in the same dialog.
        emit tree->itemActivated(item->child(0), 0); // an input is no weight
        QCOMPARE(properties.findChildren<ui::WeightsDialog*>().size(), 1);
    }
};

LATHE_TEST_GUI(TestWeightsDialog)

} // namespace tst_weights_dialog

#include "tst_weights_dialog.moc"
