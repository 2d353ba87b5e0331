#pragma once

#include "ui/models/graph_outline.h"

#include <QBrush>
#include <QColor>
#include <QCoreApplication>
#include <QString>

#include <vector>

namespace lathe::ui {

enum class GraphColoring
{
    Task,
    Share, ///< of the estimated run time
    Layout, ///< of the activations
    Coverage ///< what an export would use
};

enum class GraphCoverage
{
    Record, ///< measured for this very task
    Near, ///< measured for a task like it
    Default, ///< tried, yet nothing valid was found: the default schedule
    Untuned
};

struct GraphTaskFigure
{
    double share = 0; ///< of one occurrence, 0..1; NaN: unknown
    GraphCoverage coverage = GraphCoverage::Untuned;
};

/// What an item is painted with. Never colour alone: a word or figure goes with it and, where there are few kinds, a
/// pattern.
struct GraphLook
{
    QColor color;
    Qt::BrushStyle pattern = Qt::NoBrush; ///< over the fill
    QString note; ///< "#7", "12.3 %", "NHWC", "record"
};

/// What lies between two colours: a at t = 0, b at t = 1.
QColor mix(const QColor& a, const QColor& b, double t);

class GraphLooks
{
    Q_DECLARE_TR_FUNCTIONS(lathe::ui::GraphLooks)

public:
    static GraphLook of(const session::GraphView& graph, const std::vector<int>& nodes, GraphColoring coloring,
                        const std::vector<GraphTaskFigure>& figures);
    /// The kinds of a colouring, in words; for tasks, of which there are many, what colour and grey mean.
    static std::vector<GraphLook> legend(GraphColoring coloring);
    /// Of edges whose tensors are converted on their way: white text is read on it, and it stands out in light and
    /// dark.
    static QColor conversionColor();
};

} // namespace lathe::ui
