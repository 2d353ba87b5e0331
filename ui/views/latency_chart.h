#pragma once

#include <QWidget>

#include <cmath>

QT_BEGIN_NAMESPACE
class QAbstractAxis;
class QChart;
class QChartView;
class QLineSeries;
class QScatterSeries;
class QValueAxis;
QT_END_NAMESPACE

namespace lathe::ui {

/// Estimated sum and measured whole network over the run's time, with the untuned baseline. The one class that sees Qt
/// Charts. Points come in time order; the view keeps at most some thousand by merging neighbours of equal value.
class LatencyChart final : public QWidget
{
    Q_OBJECT

public:
    explicit LatencyChart(QWidget* parent = nullptr);

    void clear();
    void addEstimate(double seconds, double ms);
    void addMeasured(double seconds, double ms);
    void setBaseline(double ms);
    void setLogarithmic(bool on);
    /// "Estimated 8.91 ms after 62 s; measured 9.20 ms; untuned 41.3 ms": beside the chart for those who cannot see it.
    QString summary() const;

    int estimateCount() const;
    int measuredCount() const;

signals:
    void summaryChanged(const QString& text);

protected:
    void changeEvent(QEvent* event) override;

private:
    void rescale();
    void applyPalette();
    QChart* m_chart = nullptr;
    QChartView* m_view = nullptr;
    QLineSeries* m_estimate = nullptr;
    QScatterSeries* m_measured = nullptr;
    QLineSeries* m_measuredLine = nullptr;
    QLineSeries* m_baseline = nullptr;
    QValueAxis* m_time = nullptr;
    QAbstractAxis* m_latency = nullptr;
    bool m_logarithmic = false;
    double m_lastSeconds = 0;
    double m_baselineMs = std::nan("");
};

} // namespace lathe::ui
