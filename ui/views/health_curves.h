#pragma once

#include "ui/views/exportable.h"

#include <QList>
#include <QPointF>
#include <QString>
#include <QWidget>

#include <vector>

namespace lathe::ui {

/// Small curves over one time beside each other, each of a figure with a scale of its own: the health of a device. As
/// many columns as have room.
class HealthCurves final : public QWidget, public Exportable
{
    Q_OBJECT

public:
    struct Curve
    {
        QString title; ///< what the figure is called
        QString now; ///< its latest value, with the unit
        QList<QPointF> points; ///< (seconds, value), in the order of time
    };

    explicit HealthCurves(QWidget* parent = nullptr);

    /// @param seconds  that have passed since the curves' zero
    void setCurves(std::vector<Curve> curves, double seconds);
    /// What they show, in words.
    QString summary() const;

    QSize pictureSize() const override { return m_curves.empty() ? QSize() : size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {360, 160}; }
    QSize minimumSizeHint() const override { return {160, 70}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Cell
    {
        QRectF whole, plot;
        double low = 0, high = 1; ///< what the plot's lower and upper edge mean
    };
    Cell cellOf(std::size_t curve) const;
    void paintCurve(QPainter& painter, std::size_t curve) const;

    std::vector<Curve> m_curves;
    double m_seconds = 0;
};

} // namespace lathe::ui
