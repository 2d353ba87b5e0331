#pragma once

#include "ui/views/exportable.h"
#include "ui/views/plot_lines.h"

#include <QMenu>
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
    static constexpr int kNone = -1, kOther = -2, kWarmUp = -3; ///< instead of a band

    struct Sample
    {
        double from = 0, to = 0; ///< seconds
        std::vector<std::pair<int, double>> amounts; ///< (band, amount > 0)
        bool warmUp = false; ///< before there was anything to choose by: hatched
    };

    explicit BandChart(QWidget* parent = nullptr);

    /// Names of the bands; their order is that from the bottom up. `unit`: of amounts, for hints ("trials", "s").
    void setBands(const QStringList& names, const QString& unit);
    /// The largest so many, and the highlighted one, are bands of their own, each with a colour that no other has; the
    /// rest is one more, "Other". 0: each is one, and colours are by number.
    void setMostBands(int most);
    /// In the order of time.
    void setSamples(std::vector<Sample> samples);
    /// Dims all others, in the plot and in the legend; kNone: nothing is dimmed.
    void setHighlight(int band);
    /// The largest shares in words.
    QString summary() const;
    /// What stands in the legend, from top to bottom: bands, kOther, kWarmUp; and where.
    struct LegendRow
    {
        int band = kNone;
        QString name; ///< whole
        QString shown; ///< as the room has it, cut in the middle
        double amount = 0;
        QRectF place;
        bool dimmed = false;
    };
    std::vector<LegendRow> legendRows() const;
    QSize pictureSize() const override { return size(); }
    void paintPicture(QPainter& painter) const override;
    std::vector<QStringList> exportRows() const override;
    QSize sizeHint() const override { return {480, 220}; }
    QSize minimumSizeHint() const override { return {160, 100}; }

signals:
    void bandClicked(int band); ///< kNone: the highlighted one, again
    void summaryChanged(const QString& text);
    void menuAboutToShow(QMenu* menu, int band); ///< kNone: it is at no band

protected:
    bool event(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Column
    {
        double from = 0, to = 0;
        std::vector<double> amounts, warm; ///< by shown band; what of it is warm-up
        double total = 0;
    };
    QRectF plotArea() const;
    double legendWidth() const;
    void tell();
    void choose();
    std::vector<int> byAmount() const;
    std::vector<Column> columns(double width) const;
    void paintColumns(QPainter& painter, const QRectF& area) const;
    void paintLegend(QPainter& painter) const;
    QColor colorOf(int band) const;
    Qt::BrushStyle patternOf(int band) const;
    bool isDimmed(int band) const { return m_highlight >= 0 && band != m_highlight; }
    int bandAt(QPointF position, QString* hint) const;
    int legendBandAt(QPointF position, QString* hint) const;

    QStringList m_names;
    QString m_unit;
    std::vector<Sample> m_samples;
    std::vector<double> m_totals; ///< by band
    double m_total = 0, m_warmTotal = 0;
    int m_most = 0;
    std::vector<int> m_shown; ///< bands from the bottom up; kOther last, if there are others
    std::vector<int> m_place; ///< of each band among these
    ColorSlots m_slots;
    int m_highlight = kNone;
    QPointF m_pressed;
};

} // namespace lathe::ui
