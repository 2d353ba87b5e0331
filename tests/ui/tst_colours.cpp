#include "tests/support/test_program.h"
#include "ui/views/appearance.h"
#include "ui/views/plot_axes.h"

#include <QApplication>
#include <QPalette>
#include <QToolBar>
#include <QToolButton>
#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>

namespace tst_colours {

using namespace lathe;

namespace {

/// Where a colour lies in CIE L*a*b*, for eyes that see by the given matrix (Machado, Oliveira and Fernandes 2009,
/// linear RGB).
std::array<double, 3> seen(const QColor& color, const std::array<double, 9>& eye)
{
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    const double rgb[] = {linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
    double l[3];
    for (std::size_t i = 0; i < 3; ++i)
        l[i] = std::clamp(eye[3 * i] * rgb[0] + eye[3 * i + 1] * rgb[1] + eye[3 * i + 2] * rgb[2], 0.0, 1.0);
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * l[0] + 0.3576 * l[1] + 0.1805 * l[2]) / 0.9505),
                 y = f(0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]),
                 z = f((0.0193 * l[0] + 0.1192 * l[1] + 0.9505 * l[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

} // namespace

/// Colours of charts and texts, for all eyes and on both backgrounds.
class TestColours : public QObject
{
    Q_OBJECT

private slots:
    void coloursAreToldApartByAllEyes_data()
    {
        QTest::addColumn<QList<double>>("eye");
        QTest::newRow("all three cones") << QList<double>{1, 0, 0, 0, 1, 0, 0, 0, 1};
        QTest::newRow("deuteranopia") << QList<double>{0.367322, 0.860646,  -0.227968, 0.280085, 0.672501,
                                                       0.047413, -0.011820, 0.042940,  0.968881};
        QTest::newRow("protanopia") << QList<double>{0.152286, 1.052583,  -0.204868, 0.114503, 0.786281,
                                                     0.099216, -0.003882, -0.048116, 1.051998};
        QTest::newRow("tritanopia") << QList<double>{1.255528, -0.076749, -0.178779, -0.078411, 0.930809,
                                                     0.147602, 0.004733,  0.691367,  0.303900};
    }
    void coloursAreToldApartByAllEyes()
    {
        QFETCH(QList<double>, eye);
        std::array<double, 9> matrix;
        std::copy(eye.begin(), eye.end(), matrix.begin());
        const auto apart = [&matrix](const QColor& a, const QColor& b) {
            const auto p = seen(a, matrix), q = seen(b, matrix);
            return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
        };
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < i; ++j)
                QVERIFY2(apart(ui::seriesColor(i), ui::seriesColor(j)) > 15,
                         qPrintable(QString("%1 and %2").arg(j).arg(i)));
            for (const bool dark : {false, true}) {
                ui::applyAppearance(dark ? ui::Appearance::Dark : ui::Appearance::Light);
                QVERIFY2(apart(ui::seriesColor(i), QApplication::palette().color(QPalette::Base)) > 20,
                         qPrintable(QString("%1 on the background").arg(i)));
            }
        }
        QVERIFY(ui::seriesPattern(8) != ui::seriesPattern(0)); // from here on colours come again
    }

    void theArrowOfAnOverfullToolbarIsSeen()
    {
        for (const ui::Appearance appearance : {ui::Appearance::Light, ui::Appearance::Dark}) {
            ui::applyAppearance(appearance);
            QToolBar bar;
            for (int i = 0; i < 9; ++i)
                bar.addAction(QStringLiteral("an action"));
            bar.resize(150, 40);
            bar.show();
            auto* const more = bar.findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
            QVERIFY(more != nullptr);
            QTRY_VERIFY(more->isVisible());
            const QImage picture = more->grab().toImage();
            const int background = qGray(picture.pixel(0, 0));
            int most = 0;
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x)
                    most = std::max(most, std::abs(qGray(picture.pixel(x, y)) - background));
            QVERIFY2(most > 100, qPrintable(QString::number(most)));
        }
    }

    void textsStandOutInLightAndDark()
    {
        // WCAG 2: 4.5 to one.
        const auto luminance = [](const QColor& color) {
            const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
            return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
        };
        const auto contrast = [&](const QColor& a, const QColor& b) {
            const double x = luminance(a), y = luminance(b);
            return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
        };
        for (const ui::Appearance appearance : {ui::Appearance::Light, ui::Appearance::Dark}) {
            ui::applyAppearance(appearance);
            const QPalette p = QApplication::palette();
            const std::pair<QPalette::ColorRole, QPalette::ColorRole> pairs[] = {
                {QPalette::WindowText, QPalette::Window},
                {QPalette::Text, QPalette::Base},
                {QPalette::Text, QPalette::AlternateBase},
                {QPalette::ButtonText, QPalette::Button},
                {QPalette::HighlightedText, QPalette::Highlight},
                {QPalette::PlaceholderText, QPalette::Base},
                {QPalette::Link, QPalette::Base},
                {QPalette::ToolTipText, QPalette::ToolTipBase}};
            for (const auto& [text, back] : pairs)
                QVERIFY2(contrast(p.color(text), p.color(back)) >= 4.5,
                         qPrintable(QString("%1: role %2 on %3 has %4")
                                        .arg(ui::appearanceName(appearance))
                                        .arg(text)
                                        .arg(back)
                                        .arg(contrast(p.color(text), p.color(back)))));
        }
        ui::applyAppearance(ui::Appearance::Light);
    }
};

LATHE_TEST_GUI(TestColours)

} // namespace tst_colours

#include "tst_colours.moc"
