#pragma once

#include "ui/views/graph_looks.h"

#include <QStringList>
#include <QWidget>

namespace lathe::ui {

/// What the colours and patterns of the graph mean, and the texts on its edges, in words, in as many lines as the width
/// takes.
class GraphLegend final : public QWidget
{
    Q_OBJECT

public:
    explicit GraphLegend(QWidget* parent = nullptr);
    void setColoring(GraphColoring coloring);
    /// Whether edges have texts, and whether some of them are marked.
    void setEdgeTexts(bool shown, bool marked);
    QStringList words() const;

    QSize sizeHint() const override { return {200, heightForWidth(200)}; }
    QSize minimumSizeHint() const override { return {40, 0}; }
    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Entry
    {
        GraphLook look;
        QString sign = {}; ///< as on an edge, instead of the colour of nodes
        bool isMark = false; ///< the sign of what wishes change
    };
    void fill();
    void paintSign(QPainter& painter, const Entry& entry, const QRectF& swatch) const;
    /// The place of each entry's swatch, and the height of all.
    std::pair<std::vector<QRectF>, double> places(double width) const;
    GraphColoring m_coloring = GraphColoring::Task;
    bool m_texts = false, m_marks = false; ///< on edges
    std::vector<Entry> m_entries;
};

} // namespace lathe::ui
