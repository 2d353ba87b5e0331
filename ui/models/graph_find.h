#pragma once

#include "core/session/views.h"

#include <QString>

#include <memory>
#include <vector>

namespace lathe::ui {

/// The model's own name of a node, the graph's where it was made by a pass.
const std::string& modelName(const session::NodeView& node);

/// Finds nodes by name, type and shape.
class GraphFind
{
public:
    void setGraph(std::shared_ptr<const session::GraphView> graph);
    /// The nodes in which all words occur, in the order of the network; "3x3" and "3×3" are the same, case is not
    /// looked at. Nothing for no words.
    std::vector<int> find(const QString& text) const;

private:
    std::shared_ptr<const session::GraphView> m_graph;
    mutable std::vector<QString> m_texts; ///< by node, made at the first search
};

} // namespace lathe::ui
