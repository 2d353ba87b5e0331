#pragma once

#include "ui/views/chart_legend.h"
#include "ui/views/exportable.h"
#include "ui/views/plot_lines.h"
#include "ui/views/zoomable.h"

#include <QList>
#include <QMenu>
#include <QPixmap>
#include <QPointF>
#include <QRectF>
#include <QSet>
#include <QWidget>

#include <cmath>
#include <optional>
#include <vector>

namespace lathe::ui {

/// Latency over the run's time: estimated network with its band, the sum of its tasks, measured whole network with its
/// parts stacked below it, untuned baseline, curves of tasks, and other runs. Painted by hand; all curves are exchanged
/// at once and cut down to what the pixels can show.
///
/// The pointer, or the arrows, show all values at a time. Lines have their names at their ends. A click on an entry of
/// the legend hides and shows a line, a double click shows it alone. A rectangle drawn with the mouse, the wheel, + and
/// - zoom; a double click or 0 shows all. A place that was zoomed to stays in sight while the curves grow, and where
/// the axis changes between linear and logarithmic.
class LatencyChart final : public QWidget, public Exportable, public Zoomable
{
    Q_OBJECT

public:
    struct TaskCurve
    {
        int task = -1; ///< chooses the colour, where none of the others has it
        QString name;
        QList<QPointF> points; ///< (seconds, ms); a value holds until the next
        QList<QPointF> trials = {}; ///< (seconds, trials of the task so far)
    };
    /// What a measured run of the network consists of, ms, from the bottom of the stack up.
    struct Parts
    {
        double atSeconds = 0;
        double tasksMs = 0, untunedMs = 0, callMs = 0;
        double chainMs = 0; ///< may be negative: then it takes away from what is below
    };
    /// Another run, to compare with.
    struct Overlay
    {
        QString key, name;
        QList<QPointF> estimate, measured, trials; ///< (seconds of its own run, ...)
        double seconds = 0;
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
        QList<QPointF> trials = {}; ///< (seconds, trials of the run so far)
        std::vector<Parts> parts = {}; ///< in the order of time
        std::vector<Overlay> overlays = {};
    };
    /// A name beside the end of its line.
    struct EndLabel
    {
        QString key, text;
        QColor color;
        QRectF place;
        double lineY = 0; ///< where its line ends
        double lineX = 0;
    };

    explicit LatencyChart(QWidget* parent = nullptr);

    void clear() { setCurves({}); }
    void setCurves(Curves curves);
    bool isLogarithmic() const { return m_logarithmic; }
    void setLogarithmic(bool on);
    void zoomBy(double factor) override;
    void zoomToFit() override;
    bool isZoomed() const { return m_zoom.has_value(); }
    QRectF shown() const; ///< seconds and milliseconds, as the axes have them

    /// Keys of lines: "estimate", "sum", "measured", "untuned", "range", "part:tasks", "part:chain", "part:functions",
    /// "part:call", "task:" and its name, an overlay's own.
    const QSet<QString>& hidden() const { return m_hidden; }
    void setHidden(const QSet<QString>& keys);
    void toggle(const QString& key);
    /// Hides all others; where that is so already, shows all.
    void showOnly(const QString& key);

    /// "estimated 8.91 ms, measured 9.20 ms, untuned 41.3 ms after 62 s": beside the chart for those who cannot see it.
    QString summary() const;
    /// What stands beside the pointer: the time, then name, latency and trials of each visible line, parted by tabs,
    /// the slowest first. Empty: the pointer is elsewhere.
    QStringList readout() const;
    /// Those of them that are painted, in their order: as many as fit into a third of the chart, the nearest to the
    /// pointer; where some are left out, "and N more" is the last. Where: readoutPlace().
    QStringList paintedReadout() const;
    QRectF readoutPlace() const; ///< empty: nothing is painted
    const std::vector<EndLabel>& endLabels() const { return m_labels; }
    const ChartLegend& legend() const { return m_legend; }
    QColor colorOf(const QString& key) const; ///< invalid: there is no such line
    QRectF plotArea() const { return m_area; }

    qsizetype drawnPoints() const; ///< of all lines
    QSize pictureSize() const override { return size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {640, 360}; }
    QSize minimumSizeHint() const override { return {200, 140}; }

signals:
    void summaryChanged(const QString& text);
    void hiddenChanged();
    void logarithmicChanged(bool on);
    void taskClicked(int task); ///< the line of a task was clicked
    /// Its menu opens: who knows more than the chart adds to it. `key`: of the line that the pointer is at; empty: at
    /// none. `task`: whose line that is, -1: of none.
    void menuAboutToShow(QMenu* menu, const QString& key, int task);

protected:
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool event(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    static constexpr double kLeastLatency = 1e-9; ///< ms, that a logarithmic axis can show
    enum class Kind
    {
        Steps, ///< a value holds until the next
        Points, ///< measured one by one
        Level, ///< one value for all times
        Band, ///< between two lines
        Part ///< likewise, of a stack
    };
    struct Line
    {
        Kind kind = Kind::Steps;
        QString key = {}, name = {};
        QColor color = {};
        Qt::PenStyle pen = Qt::SolidLine;
        double width = 1.5;
        Qt::BrushStyle brush = Qt::SolidPattern;
        QList<QPointF> points = {}, upper = {}; ///< as they came; upper edge of an area
        QList<QPointF> trials = {};
        double end = 0; ///< seconds to which it holds
        int task = -1;
        bool named = true; ///< has a legend entry and a label of its own
        int rank = 0; ///< in the legend
        QList<QPointF> drawn = {}, drawnUpper = {}; ///< what the pixels can show
    };
    struct Value
    {
        const Line* line = nullptr;
        QString name, latency, trials;
        double ms = 0;
    };

    // latency_chart_lines.cpp
    void makeLines();
    void addNetworkLines(bool dark);
    void addParts(bool dark);
    void addOverlays(bool dark);
    void addTasks(bool dark);
    void fitAxes();
    void thin();
    void makeLegend();
    void layOut();
    void placeLabels();
    std::vector<Value> valuesAt(double seconds) const;
    /// The table beside the pointer.
    struct Readout
    {
        std::vector<Value> values;
        QString heading, more; ///< `more`: what stands below the values; empty: they are all
        const Line* near = nullptr;
        QRectF place;
        double names = 0, latencies = 0, trials = 0; ///< widths of the columns
    };
    Readout readoutAt(QPointF pointer) const;
    std::vector<Value> nearest(std::vector<Value> values, std::size_t count, QPointF pointer) const;
    QString timeText(double seconds) const;
    // latency_chart_paint.cpp
    void paintAxes(QPainter& painter) const;
    void paintLine(QPainter& painter, const Line& line, bool strong) const;
    void paintArea(QPainter& painter, const Line& line) const;
    void paintLabels(QPainter& painter) const;
    void paintPointer(QPainter& painter) const;
    void paintValues(QPainter& painter) const;

    void rebuild(); ///< all of it: curves, looks or language changed
    void refresh(); ///< place or size changed
    void zoomTo(const QRectF& place);
    void tell();
    bool isShown(const Line& line) const { return !m_hidden.contains(line.key); }
    double toX(double seconds) const;
    double toY(double ms) const;
    double secondsAt(double x) const;
    double msAt(double y) const;
    void pointAt(std::optional<QPointF> position);
    const Line* lineNear(QPointF position) const;
    void showRest();
    void addLineActions(QMenu& menu, std::size_t from);

    Curves m_curves;
    std::vector<Line> m_lines; ///< as they are painted, one upon the other
    ChartLegend m_legend;
    std::vector<EndLabel> m_labels;
    ColorSlots m_slots;
    QSet<QString> m_hidden;
    QSet<QString> m_hiddenBefore; ///< the first click of a double click
    QRectF m_area; ///< of the plot, in the widget
    QRectF m_all; ///< as shown(), without a zoom
    std::optional<QRectF> m_zoom; ///< as shown(); nothing: all is shown
    bool m_logarithmic = false;
    std::optional<QPointF> m_pointer; ///< in the widget
    std::optional<QPointF> m_pressed, m_dragged; ///< in the plot
    mutable QPixmap m_still; ///< all but what follows the pointer; null: to be painted anew
};

} // namespace lathe::ui
