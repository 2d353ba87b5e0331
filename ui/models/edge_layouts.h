#pragma once

#include "core/session/layout_part.h"
#include "core/session/views.h"

#include <QCoreApplication>
#include <QString>

#include <cstdint>
#include <vector>

namespace lathe::ui {

/// In which layout the tensor on an edge of the network is written and read.
struct EdgeLayout
{
    std::int32_t from = -1, to = -1; ///< nodes
    std::int32_t tensor = -1; ///< LayoutsView::tensors
    QString text; ///< "NCHW16c", "NCHW → NCHW16c"; "NCHW16c *" where wishes change it
    QString tip; ///< HTML: which tensor that is, and what its conversion takes
    bool converts = false;
    bool changes = false; ///< by wishes
};

class EdgeLayouts
{
    Q_DECLARE_TR_FUNCTIONS(lathe::ui::EdgeLayouts)

public:
    /// Of the edges between two functions, or between a function and what works in one order only, whose tensors the
    /// view has. `changed`: of these tensors, those that wishes change.
    static std::vector<EdgeLayout> of(const session::GraphView& graph, const session::LayoutsView& view,
                                      const std::vector<std::int32_t>& changed);
};

} // namespace lathe::ui
