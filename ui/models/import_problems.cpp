#include "ui/models/import_problems.h"

#include "ui/models/core_text.h"

namespace lathe::ui {

std::vector<ImportProblem> importProblems(const About& about)
{
    const Argument* const listed = about ? about->find("problems") : nullptr;
    const auto* const messages = listed == nullptr ? nullptr : std::get_if<std::vector<Message>>(&listed->value);
    if (messages == nullptr)
        return {};
    std::vector<ImportProblem> problems;
    for (const Message& message : *messages) {
        const Argument* const what = message.find("what");
        const Argument* const nodes = message.find("nodes");
        const auto* const said = what == nullptr ? nullptr : std::get_if<std::vector<Message>>(&what->value);
        const auto* const names = nodes == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&nodes->value);
        if (said == nullptr || said->empty() || names == nullptr)
            return {}; // half of the problems would be worse than the whole sentence
        ImportProblem problem{coreText(said->front()), {}, 0};
        for (const std::string& name : *names)
            problem.nodes << QString::fromStdString(name).remove(QLatin1Char('"'));
        const double more = message.number("more");
        problem.count = static_cast<int>(problem.nodes.size()) + (more > 0 ? static_cast<int>(more) : 0);
        problems.push_back(std::move(problem));
    }
    return problems;
}

SourceKind sourceKind(const QString& source)
{
    const auto ends = [&source](const char* suffix) {
        return source.endsWith(QLatin1String(suffix), Qt::CaseInsensitive);
    };
    if (ends(".lathe"))
        return SourceKind::Project;
    if (ends(".json") || ends(".log") || ends(".jsonl"))
        return SourceKind::Log;
    if (ends(".so"))
        return SourceKind::Library;
    return SourceKind::Model;
}

} // namespace lathe::ui
