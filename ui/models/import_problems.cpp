#include "ui/models/import_problems.h"

#include <QRegularExpression>

namespace lathe::ui {

std::vector<ImportProblem> importProblems(const QString& text)
{
    static const QString intro = QStringLiteral("the model needs what is not supported: ");
    const auto begin = text.indexOf(intro);
    if (begin < 0)
        return {};
    // WHAT (node "a"); WHAT (nodes "a", "b" and 3 more)
    static const QRegularExpression entry(QStringLiteral("\\G(.+?) \\(nodes? (\"[^\"]*\"(?:, \"[^\"]*\")*)(?: and (\\d+) more)?\\)(?:; |$)"), QRegularExpression::DotMatchesEverythingOption);
    std::vector<ImportProblem> problems;
    qsizetype at = begin + intro.size();
    while (at < text.size()) {
        const auto match = entry.match(text, at);
        if (!match.hasMatch())
            return {}; // half of the problems would be worse than the whole sentence
        ImportProblem problem{match.captured(1), {}, 0};
        for (const QString& name : match.captured(2).split(QStringLiteral("\", \"")))
            problem.nodes << QString(name).remove(QLatin1Char('"'));
        problem.count = static_cast<int>(problem.nodes.size()) + match.captured(3).toInt();
        problems.push_back(std::move(problem));
        at = match.capturedEnd();
    }
    return problems;
}

SourceKind sourceKind(const QString& source)
{
    const auto ends = [&source](const char* suffix) { return source.endsWith(QLatin1String(suffix), Qt::CaseInsensitive); };
    if (ends(".lathe"))
        return SourceKind::Project;
    if (ends(".json") || ends(".log") || ends(".jsonl"))
        return SourceKind::Log;
    if (ends(".so"))
        return SourceKind::Library;
    return SourceKind::Model;
}

} // namespace lathe::ui
