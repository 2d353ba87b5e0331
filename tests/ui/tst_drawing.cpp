#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/models/texts.h"
#include "ui/views/band_chart.h"
#include "ui/views/pattern_brush.h"
#include "ui/views/share_delegate.h"

#include <QPainter>
#include <QStandardItemModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextLayout>

namespace tst_drawing {

using namespace lathe;

namespace {

QImage paper(QSize size, double scale)
{
    QImage image(size * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::white);
    return image;
}

/// How often it gets light along the row, from one pixel to another; in pixels at 100 %.
int lights(const QImage& image, double row, int from, int to)
{
    const double scale = image.devicePixelRatio();
    const auto light = [&](int x) { return qGray(image.pixel(x, static_cast<int>(row * scale))) > 170; };
    int count = 0;
    for (int x = static_cast<int>(from * scale) + 1; x < static_cast<int>(to * scale); ++x)
        count += light(x) && !light(x - 1) ? 1 : 0;
    return count;
}

} // namespace

/// Marks, patterns and names as they come out on the screen.
class TestDrawing : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void patternsAreAsCoarseOnAFineScreen_data()
    {
        QTest::addColumn<Qt::BrushStyle>("style");
        QTest::newRow("rising lines") << Qt::BDiagPattern;
        QTest::newRow("falling lines") << Qt::FDiagPattern;
        QTest::newRow("crossing lines") << Qt::DiagCrossPattern;
        QTest::newRow("dots") << Qt::Dense5Pattern;
    }

    void patternsAreAsCoarseOnAFineScreen()
    {
        QFETCH(Qt::BrushStyle, style);
        const auto count = [style](double scale) {
            QImage image = paper({160, 40}, scale);
            QPainter(&image).fillRect(QRectF(0, 0, 160, 40), ui::patternBrush(Qt::black, style, scale));
            return lights(image, 20.25, 0, 160);
        };
        const int usual = count(1);
        QVERIFY2(usual >= 15, qPrintable(QString::number(usual)));
        for (const double scale : {1.5, 2.0, 3.0})
            QVERIFY2(std::abs(count(scale) - usual) <= 2,
                     qPrintable(QStringLiteral("%1 at %2").arg(count(scale)).arg(scale)));
    }

    /// All of it is warm-up, which is hatched.
    void theHatchingOfAChartIsAsCoarseOnAFineScreen()
    {
        ui::BandChart chart;
        chart.resize(600, 260);
        chart.setMostBands(5);
        chart.setBands({QStringLiteral("dense 64->10")}, QStringLiteral("trials"));
        chart.setSamples({{0, 10, {{0, 8.0}}, true}});
        const auto count = [&chart](double scale) {
            QImage image = paper(chart.size(), scale);
            QPainter painter(&image);
            chart.paintPicture(painter);
            painter.end();
            return lights(image, 120, 80, static_cast<int>(chart.legendRows().front().place.left()) - 40);
        };
        const int usual = count(1);
        QVERIFY2(usual >= 20, qPrintable(QString::number(usual)));
        QVERIFY2(std::abs(count(2) - usual) <= 4, qPrintable(QStringLiteral("%1, %2").arg(count(2)).arg(usual)));
    }

    void theBarOfAShareKeepsClearOfItsDigits()
    {
        QStandardItemModel model(1, 1);
        model.setItem(0, new QStandardItem(QStringLiteral("94.2 %")));
        QTableView view; // whose palette and font it is
        QStyleOptionViewItem option;
        option.initFrom(&view);
        option.widget = &view;
        option.displayAlignment = Qt::AlignRight | Qt::AlignVCenter;
        option.rect = QRect(0, 0, 80, view.fontMetrics().height() + 6); // a row of the table of tasks
        QImage image = paper(option.rect.size(), 1);
        QPainter painter(&image);
        ui::ShareDelegate().paint(&painter, option, model.index(0, 0));
        painter.end();
        const QRgb bar = view.palette().color(QPalette::Highlight).rgb();
        int lastOfDigits = -1, firstOfBar = -1;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (image.pixel(x, y) == bar)
                    firstOfBar = firstOfBar < 0 ? y : firstOfBar;
                else if (qGray(image.pixel(x, y)) < 128 && firstOfBar < 0)
                    lastOfDigits = y;
        QVERIFY(lastOfDigits > 0);
        QVERIFY2(firstOfBar - lastOfDigits > 3, qPrintable(QStringLiteral("%1, %2").arg(lastOfDigits).arg(firstOfBar)));
    }

    void noLineEndsWithinANameOfATask()
    {
        const QString text = ui::unbroken(QStringLiteral("25 % dense 784->128 +add+relu, 25 % conv2d 3x3 128->64 @56"));
        bool wrapped = false;
        for (int width = 20; width < 300; width += 3) {
            QTextLayout layout(text, QApplication::font());
            layout.beginLayout();
            for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
                line.setLineWidth(width);
                const QString end = text.mid(line.textStart(), line.textLength());
                QVERIFY2(!end.endsWith(QLatin1Char('-')) && !end.endsWith(QChar(0x2060)), qPrintable(end));
                wrapped = wrapped || line.textStart() > 0;
            }
            layout.endLayout();
        }
        QVERIFY(wrapped);
    }
};

LATHE_TEST_GUI(TestDrawing)

} // namespace tst_drawing

#include "tst_drawing.moc"
