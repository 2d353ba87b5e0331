#pragma once

#include "ui/views/exportable.h"

#include <QStringList>
#include <QWidget>

#include <vector>

namespace lathe::ui {

/// Shares over time as stacked bands: which task got the trials, what the time was spent on. Painted by hand; samples
/// are gathered into one column per few pixels, so that a long run costs no more than a short one.
class BandChart final : public QWidget, public Exportable
{
    Q_OBJECT

public:
    struct Sample
    {
        double from = 0, to = 0; ///< seconds
        std::vector<std::pair<int, double>> amounts; ///< (band, amount > 0)
    };

    explicit BandChart(QWidget* parent = nullptr);

    /// Names of the bands; their order is that from the bottom up. `unit`: of amounts, for hints ("trials", "s").
    void setBands(const QStringList& names, const QString& unit);
    /// In the order of time.
    void setSamples(std::vector<Sample> samples);
    void setHighlight(int band); ///< -1: none
    /// The largest shares in words.
    QString summary() const;
    QSize pictureSize() const override { return size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {480, 220}; }
    QSize minimumSizeHint() const override { return {160, 100}; }

signals:
    void bandClicked(int band);
    void summaryChanged(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Column
    {
        double from = 0, to = 0;
        std::vector<double> amounts; ///< by band
        double total = 0;
    };
    QRectF plotArea() const;
    double legendWidth() const;
    void tell();
    std::vector<Column> columns(double width) const;
    void paint(QPainter& painter) const;
    int bandAt(QPointF position, QString* hint) const;

    QStringList m_names;
    QString m_unit;
    std::vector<Sample> m_samples;
    std::vector<double> m_totals; ///< by band
    double m_total = 0;
    int m_highlight = -1;
    QPointF m_pressed;
};

} // namespace lathe::ui
