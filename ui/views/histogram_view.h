#pragma once

#include "ui/views/exportable.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace lathe::ui {

/// How often values occur, in bars of equal width from the smallest to the largest. The height is logarithmic where
/// asked for: weights often have a peak that hides all else.
class HistogramView final : public QWidget, public Exportable
{
    Q_OBJECT

public:
    explicit HistogramView(QWidget* parent = nullptr);

    void setCounts(std::vector<std::int64_t> counts, double low, double high);
    void setLogarithmic(bool on);
    QSize pictureSize() const override { return m_counts.empty() ? QSize() : size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {320, 150}; }
    QSize minimumSizeHint() const override { return {140, 90}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF plotArea() const;
    double barHeight(std::int64_t count) const; ///< 0..1
    double edge(std::size_t bar) const; ///< the value where it begins
    std::vector<std::int64_t> m_counts;
    double m_low = 0, m_high = 0;
    bool m_logarithmic = false;
};

} // namespace lathe::ui
