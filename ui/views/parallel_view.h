#pragma once

#include "ui/views/exportable.h"

#include <QPixmap>
#include <QString>
#include <QStringList>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

QT_BEGIN_NAMESPACE
class QMenu;
QT_END_NAMESPACE

namespace lathe::ui {

class DragHandle;

/// Parallel coordinates: a vertical axis for each of several choices and one for the cost, and a line through them for
/// each thing that was tried, coloured by its cost. The fastest lies on top, thick. The mouse over a line, or the arrow
/// keys, tell what it is; a click picks it, a click on an axis picks the axis.
class ParallelView final : public QWidget, public Exportable
{
    Q_OBJECT

public:
    /// So many lines are drawn at most, the fastest ones: more would hide each other.
    static constexpr std::size_t kMostLines = 3000;

    struct Axis
    {
        QString name;
        QStringList values; ///< from the bottom to the top
    };
    struct Line
    {
        std::int64_t id = 0; ///< what picked() tells
        QString name; ///< "trial 4f2a91"
        std::vector<int> values; ///< parallel to the axes: index into their values
        double cost = 0; ///< ms; NaN, or nothing that a time can be: it failed
    };
    struct Lines
    {
        std::vector<Axis> axes;
        std::vector<Line> lines;
    };

    explicit ParallelView(QWidget* parent = nullptr);

    /// Null or without lines: the message is shown.
    void setLines(std::shared_ptr<const Lines> lines);
    void setMessage(const QString& text); ///< instead of lines
    QString message() const { return m_message; }
    void setMarkedAxis(int axis); ///< -1: none
    /// The line that is selected elsewhere, seen even if it is not among the fastest; 0: none.
    void setMarked(std::int64_t id);
    std::int64_t marked() const { return m_marked; }

    /// "412 trials, 31 of them failed. The fastest 300 are drawn."; empty without lines.
    QString summary() const;
    /// What the line is, for people: every choice, and the cost.
    QString textOf(std::size_t line) const;
    /// The line that is drawn nearest to this place; nothing: none is near. Of several the fastest.
    std::optional<std::size_t> lineAt(QPointF position) const;
    /// Where a line crosses an axis; the axis after the last one is the cost's.
    QPointF crossing(std::size_t line, std::size_t axis) const;

    QSize pictureSize() const override { return isEmpty() ? QSize() : size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {520, 280}; }
    QSize minimumSizeHint() const override { return {200, 140}; }

signals:
    void picked(qint64 id);
    void axisPicked(int axis);
    void menuAboutToShow(QMenu* menu, qint64 id); ///< 0: no line is near

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    bool isEmpty() const { return !m_lines || m_lines->lines.empty(); }
    QRectF plotArea() const;
    double axisX(std::size_t axis) const;
    double costY(double cost) const;
    std::optional<std::size_t> axisAt(QPointF position) const;
    QColor colourOf(double cost) const;
    std::optional<std::size_t> lineOf(std::int64_t id) const;
    void order();
    void layoutChanged();
    void hover(std::optional<std::size_t> line);
    void paintAxes(QPainter& painter) const;
    void paintCostAxis(QPainter& painter, const QRectF& area) const;
    void paintLine(QPainter& painter, std::size_t line, const QColor& colour, double width) const;
    void paintLines(QPainter& painter) const;

    DragHandle* m_handle = nullptr;
    std::shared_ptr<const Lines> m_lines;
    std::vector<std::size_t> m_order; ///< those that are drawn, the slowest first, the failed before all
    double m_low = 1, m_high = 1; ///< ms, of those that are drawn
    std::size_t m_failed = 0;
    QString m_message;
    int m_markedAxis = -1;
    std::int64_t m_marked = 0;
    std::optional<std::size_t> m_hovered;
    QPixmap m_picture; ///< of what does not follow the mouse; null: to be painted anew
};

} // namespace lathe::ui
