#pragma once

#include <QBrush>
#include <QColor>
#include <QPalette>
#include <QPointF>
#include <QRectF>
#include <QString>

#include <vector>

QT_BEGIN_NAMESPACE
class QFontMetricsF;
class QPainter;
QT_END_NAMESPACE

namespace lathe::ui {

/// The legend that a painted chart has above its plot: entries in a few rows, each of which can be clicked. What finds
/// no room is behind a last entry, "7 more".
class ChartLegend
{
public:
    enum class Mark
    {
        Line,
        Dot,
        Box
    };
    struct Entry
    {
        QString key, name;
        QColor color;
        Mark mark = Mark::Line;
        Qt::PenStyle pen = Qt::SolidLine;
        Qt::BrushStyle brush = Qt::SolidPattern;
        bool hidden = false; ///< is painted so that one sees it
    };
    static constexpr int kNone = -1, kMore = -2; ///< of entryAt()

    void setEntries(std::vector<Entry> entries) { m_entries = std::move(entries); }
    const std::vector<Entry>& entries() const { return m_entries; }
    /// Places the entries into `area`, whose height is that of `rows` rows, the first of which starts at `firstLeft`.
    void layOut(const QFontMetricsF& metrics, const QRectF& area, double firstLeft, int rows);
    double height() const { return m_height; } ///< of the rows that are used
    void paint(QPainter& painter, const QPalette& palette) const;

    int entryAt(QPointF position) const; ///< kMore: the last one, that stands for the rest
    QRectF place(const QString& key) const; ///< empty: it is behind the last one, or there is none
    std::size_t firstHidden() const { return m_places.size(); } ///< of the entries behind the last one
    QRectF morePlace() const { return m_more; }
    QString tip(int entry) const; ///< the whole name, and what clicks do

private:
    std::vector<Entry> m_entries;
    std::vector<QRectF> m_places; ///< of the first entries
    QRectF m_more;
    double m_height = 0;
};

} // namespace lathe::ui
