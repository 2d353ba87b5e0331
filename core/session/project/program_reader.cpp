#include "core/session/project/program_reader.h"

#include "core/session/back_ends.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"
#include "core/session/project/project_history.h"
#include "core/support/message.h"
#include "core/target/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace lathe::session {

namespace {

/// What programs for all targets have.
const std::array<ProgramForm, 3>& plainForms()
{
    static const std::array<ProgramForm, 3> forms = {
        {{"steps", "Schedule steps"}, {"loops", "Loop tree"}, {"nest", "Loop nest"}}};
    return forms;
}

bool isPlain(const std::string& form)
{
    return std::ranges::find(plainForms(), form, &ProgramForm::name) != plainForms().end();
}

} // namespace

std::vector<ProgramForm> programForms(std::span<const std::string> targets)
{
    std::vector<ProgramForm> forms(plainForms().begin(), plainForms().end());
    for (const std::string& text : targets) {
        const auto target = parseTarget(text);
        if (!target) // of a back end that is not installed here
            continue;
        for (const ListingKind& listing : listingsOf(*target))
            if (std::ranges::find(forms, listing.name, &ProgramForm::name) == forms.end())
                forms.push_back({listing.name, listing.title});
    }
    return forms;
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

Result<std::string> ProgramReader::text(const Standing& standing, const std::string& task, const std::string& form)
{
    const std::vector<ProgramForm> forms = programForms(std::span(&standing.target, 1));
    if (std::ranges::find(forms, form, &ProgramForm::name) == forms.end()) {
        std::vector<std::string> names;
        for (const ProgramForm& known : forms)
            names.push_back(known.name);
        return makeError(Errc::InvalidArgument, say(Msg::NoSuchProgramForm, form, standing.target, names));
    }
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
    if (!isPlain(form)) {
        LATHE_TRY_ASSIGN(Listing listing, history->listing(rows.front(), form));
        return std::move(listing.text);
    }
    LATHE_TRY_ASSIGN(const TrialDetail detail, history->detail(rows.front()));
    if (form == "steps")
        return fmt::format("{}\n", fmt::join(detail.steps, "\n"));
    if (!detail.problem.empty())
        return makeError(Errc::NotFound, detail.problem);
    return form == "loops" ? detail.loops : detail.nest;
}

} // namespace lathe::session
