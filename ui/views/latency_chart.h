#pragma once

#include "ui/views/exportable.h"

#include <QList>
#include <QPointF>
#include <QWidget>

#include <cmath>
#include <vector>

QT_BEGIN_NAMESPACE
class QAbstractAxis;
class QAreaSeries;
class QChart;
class QChartView;
class QLineSeries;
class QScatterSeries;
class QValueAxis;
class QXYSeries;
QT_END_NAMESPACE

namespace lathe::ui {

/// Latency over the run's time: estimated sum with its band, measured whole network, untuned baseline, and curves of
/// tasks. The one class that sees Qt Charts. All curves are exchanged at once and cut down to what the pixels can show.
class LatencyChart final : public QWidget, public Exportable
{
    Q_OBJECT

public:
    struct TaskCurve
    {
        int task = -1; ///< chooses the colour
        QString name;
        QList<QPointF> points; ///< (seconds, ms); a value holds until the next
    };
    /// Points are (seconds, ms) in the order of time.
    struct Curves
    {
        QList<QPointF> estimate; ///< a value holds until the next
        QList<QPointF> low, high; ///< band, at equal times
        QList<QPointF> measured;
        double untunedMs = std::nan("");
        double seconds = 0; ///< to here the curves hold
        std::vector<TaskCurve> tasks;
    };

    explicit LatencyChart(QWidget* parent = nullptr);

    void clear() { setCurves({}); }
    void setCurves(Curves curves);
    void setLogarithmic(bool on);
    /// "estimated 8.91 ms, measured 9.20 ms, untuned 41.3 ms after 62 s": beside the chart for those who cannot see it.
    QString summary() const;

    qsizetype drawnPoints() const; ///< of all lines
    QSize pictureSize() const override;
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;

signals:
    void summaryChanged(const QString& text);

protected:
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void draw();
    void rescale();
    void tell();
    void applyPalette();
    void setNames();
    QChart* m_chart = nullptr;
    QChartView* m_view = nullptr;
    QLineSeries* m_estimate = nullptr;
    QScatterSeries* m_measured = nullptr;
    QLineSeries *m_measuredLine = nullptr, *m_baseline = nullptr, *m_lower = nullptr, *m_upper = nullptr;
    QAreaSeries* m_band = nullptr;
    std::vector<QLineSeries*> m_tasks;
    QValueAxis* m_time = nullptr;
    QAbstractAxis* m_latency = nullptr;
    Curves m_curves;
    bool m_logarithmic = false;
};

} // namespace lathe::ui
