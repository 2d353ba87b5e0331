#pragma once

#include "ui/views/exportable.h"
#include "ui/views/zoomable.h"

#include <QList>
#include <QPointF>
#include <QRectF>
#include <QWidget>

#include <cmath>
#include <optional>
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

/// Latency over the run's time: estimated network with its band, the sum of its tasks, measured whole network, untuned
/// baseline, and curves of tasks. The one class that sees Qt Charts. All curves are exchanged at once and cut down to what the pixels can show.
/// A rectangle drawn with the mouse, + and - zoom; a double click or 0 shows all. A place that was zoomed to stays in
/// sight while the curves grow, and where the axis changes between linear and logarithmic.
class LatencyChart final : public QWidget, public Exportable, public Zoomable
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
        QList<QPointF> estimate; ///< of the network; a value holds until the next
        QList<QPointF> tasksSum; ///< what of that is the tasks'; likewise
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
    void zoomBy(double factor) override;
    void zoomToFit() override;
    bool isZoomed() const { return m_zoom.has_value(); }
    QRectF shown() const; ///< seconds and milliseconds, as the axes have them
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
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void draw();
    void rescale();
    void zoomTo(const QRectF& place);
    void tell();
    void applyPalette();
    void setNames();
    QChart* m_chart = nullptr;
    QChartView* m_view = nullptr;
    QLineSeries *m_estimate = nullptr, *m_tasksSum = nullptr;
    QScatterSeries* m_measured = nullptr;
    QLineSeries *m_measuredLine = nullptr, *m_baseline = nullptr, *m_lower = nullptr, *m_upper = nullptr;
    QAreaSeries* m_band = nullptr;
    std::vector<QLineSeries*> m_tasks;
    QValueAxis* m_time = nullptr;
    QAbstractAxis* m_latency = nullptr;
    Curves m_curves;
    bool m_logarithmic = false;
    std::optional<QRectF> m_zoom; ///< as shown(); nothing: all is shown
};

} // namespace lathe::ui
