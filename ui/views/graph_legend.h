#pragma once

#include "ui/views/graph_looks.h"

#include <QWidget>

namespace lathe::ui {

/// What the colours and patterns of the graph mean, in words, in as many lines as the width takes.
class GraphLegend final : public QWidget
{
    Q_OBJECT

public:
    explicit GraphLegend(QWidget* parent = nullptr);
    void setColoring(GraphColoring coloring);

    QSize sizeHint() const override { return {200, heightForWidth(200)}; }
    QSize minimumSizeHint() const override { return {40, 0}; }
    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// The place of each entry's swatch, and the height of all.
    std::pair<std::vector<QRectF>, double> places(double width) const;
    GraphColoring m_coloring = GraphColoring::Task;
    std::vector<GraphLook> m_entries;
};

} // namespace lathe::ui
