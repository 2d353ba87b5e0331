#include "core/session/project/program_reader.h"

#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"
#include "core/session/project/project_history.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace lathe::session {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"steps", "loops", "nest", "ir", "assembly", "source"};

}

Result<ProgramText> programTextFromString(std::string_view text)
{
    const auto found = std::find(kNames.begin(), kNames.end(), text);
    if (found == kNames.end())
        return makeError(Errc::InvalidArgument,
                         fmt::format("'{}' is not a form of a program: use one of {}", text, fmt::join(kNames, ", ")));
    return static_cast<ProgramText>(found - kNames.begin());
}

struct ProgramReader::Impl
{
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const LoadedModel>> models; ///< by options and target
    std::map<std::tuple<std::string, std::int64_t, std::string>, std::unique_ptr<History>>
        histories; ///< by project, model, target

    Result<History*> history(const Standing& standing)
    {
        auto& history = histories[{standing.project.string(), standing.modelRow, standing.target}];
        if (history == nullptr) {
            auto& model = models[{standing.modelOptions, standing.target}];
            if (model == nullptr) {
                LATHE_TRY_ASSIGN(const ModelSpec spec, modelSpecFromJson(standing.modelOptions));
                LATHE_TRY_ASSIGN(model, loadModelOf(standing.project, spec, standing.target));
            }
            history = openHistory({standing.project, standing.modelRow, model, nullptr});
        }
        return history.get();
    }
};

ProgramReader::ProgramReader()
    : m_impl(std::make_unique<Impl>())
{
}
ProgramReader::~ProgramReader() = default;

Result<std::string> ProgramReader::text(const Standing& standing, const std::string& task, ProgramText what)
{
    const auto found = std::find_if(standing.tasks.begin(), standing.tasks.end(),
                                    [&task](const Standing::Task& t) { return t.key == task; });
    if (found == standing.tasks.end())
        return makeError(Errc::NotFound, say(Msg::NoSuchTaskIn, standing.project.filename().string()));
    if (found->trial.empty())
        return makeError(Errc::NotFound, say(Msg::NoRecordIn, standing.project.filename().string()));
    LATHE_TRY_ASSIGN(History* const history, m_impl->history(standing));
    TrialQuery query;
    query.text = found->trial;
    LATHE_TRY_ASSIGN(const auto rows, history->find(query, {}));
    if (rows.empty())
        return makeError(Errc::NotFound, say(Msg::RecordGone, found->trial));
    if (what == ProgramText::LlvmIr || what == ProgramText::Assembly || what == ProgramText::Source) {
        LATHE_TRY_ASSIGN(Listing listing,
                         history->listing(rows.front(), std::string(kNames[static_cast<std::size_t>(what)])));
        return std::move(listing.text);
    }
    LATHE_TRY_ASSIGN(const TrialDetail detail, history->detail(rows.front()));
    if (what == ProgramText::Steps)
        return fmt::format("{}\n", fmt::join(detail.steps, "\n"));
    if (!detail.problem.empty())
        return makeError(Errc::NotFound, detail.problem);
    return what == ProgramText::Loops ? detail.loops : detail.nest;
}

} // namespace lathe::session
