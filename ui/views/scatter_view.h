#pragma once

#include "ui/bridge/jobs.h"
#include "ui/views/exportable.h"
#include "ui/views/zoomable.h"

#include <QImage>
#include <QMenu>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <vector>

namespace lathe::ui {

/// Many points, every one of them counted: places of the picture are coloured by how many fall there, so that a million
/// cost no more to look at than a thousand. A rectangle drawn with the mouse, the wheel, + and - zoom; a double click
/// or 0 shows all; a click picks the nearest point.
class ScatterView final : public QWidget, public Exportable, public Zoomable
{
    Q_OBJECT

public:
    struct Points
    {
        std::vector<double> x, y;
        std::vector<std::int64_t> ids; ///< what picked() tells; grows
    };
    struct Axis
    {
        QString title; ///< with its unit
        bool time = false; ///< seconds, shown as minutes and hours
        bool logarithmic = false; ///< points at or below zero are left out, and said
    };

    explicit ScatterView(QWidget* parent = nullptr);

    void setAxes(const Axis& x, const Axis& y);
    /// `diagonal`: both axes have one unit, and where they are equal is marked.
    void setPoints(std::shared_ptr<const Points> points, bool diagonal);
    void setMarked(std::int64_t id); ///< the point with a ring about it; 0: none
    void setMessage(const QString& text)
    {
        m_message = text;
        update();
    } ///< instead of points
    void zoomToFit() override;
    void zoomBy(double factor) override;

    /// "1,000,000 trials; the darkest of the places has 312 of them".
    QString summary() const;
    QSize pictureSize() const override { return m_points && !m_points->x.empty() ? size() : QSize(); }
    void paintPicture(QPainter& painter) const override;
    /// The points in sight; where they are many, the places with their counts.
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {480, 260}; }
    QSize minimumSizeHint() const override { return {200, 150}; }

signals:
    void picked(qint64 id);
    void menuAboutToShow(QMenu* menu, qint64 id); ///< 0: no point is near
    void summaryChanged(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    struct Range
    {
        double low = 0, high = 1;
    };
    /// What a job makes of the points.
    struct Picture
    {
        int columns = 0, rows = 0;
        std::vector<std::uint32_t> counts;
        std::uint32_t most = 0;
        qint64 shown = 0; ///< points inside
    };
    static Range rangeOf(const std::vector<double>& values, bool logarithmic, qint64* left);
    QRectF plotArea() const;
    double place(double value, bool logarithmic) const; ///< in the axis' own scale
    QPointF toScreen(double x, double y) const;
    void count();
    void take(std::shared_ptr<const Picture> picture);
    void colour();
    void paintAxes(QPainter& painter, const QRectF& area) const;
    void setView(Range x, Range y);
    std::int64_t nearest(QPointF position) const; ///< 0: none is near

    std::shared_ptr<const Points> m_points;
    std::shared_ptr<const Picture> m_picture;
    Axis m_xAxis, m_yAxis;
    Range m_allX, m_allY, m_viewX, m_viewY; ///< in the axes' own scales
    qint64 m_left = 0; ///< points that a logarithmic axis cannot show
    std::int64_t m_marked = 0;
    bool m_diagonal = false;
    QString m_message;
    QImage m_image;
    JobLane m_jobs;
    Job m_counting; ///< the latest that was asked for
    QPointF m_pressed, m_dragged;
    bool m_dragging = false;
};

} // namespace lathe::ui
