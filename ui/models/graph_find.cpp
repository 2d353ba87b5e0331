#include "ui/models/graph_find.h"

#include "ui/models/texts.h"

#include <QStringList>

#include <algorithm>

namespace lathe::ui {

namespace {

QString plain(const QString& text)
{
    return text.toLower().replace(QChar(0xd7), QLatin1Char('x'));
}

} // namespace

const std::string& modelName(const session::NodeView& node)
{
    return node.origin.empty() ? node.name : node.origin;
}

void GraphFind::setGraph(std::shared_ptr<const session::GraphView> graph)
{
    m_graph = std::move(graph);
    m_texts.clear();
}

std::vector<int> GraphFind::find(const QString& text) const
{
    std::vector<int> found;
    const QStringList words =
        plain(text).replace(QLatin1Char('*'), QLatin1Char(' ')).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (!m_graph || words.isEmpty())
        return found;
    if (m_texts.empty()) {
        for (const session::NodeView& node : m_graph->nodes) {
            QString all = QString::fromStdString(node.name + ' ' + node.origin + ' ' + node.op);
            for (const auto& output : node.outputs)
                all += QLatin1Char(' ') + shapeText(output);
            m_texts.push_back(plain(all));
        }
    }
    for (std::size_t n = 0; n < m_texts.size(); ++n)
        if (std::all_of(words.begin(), words.end(), [&](const QString& word) { return m_texts[n].contains(word); }))
            found.push_back(m_graph->nodes[n].id);
    return found;
}

} // namespace lathe::ui
