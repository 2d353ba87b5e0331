#include "core/templates/user_template.h"

#include "core/support/files.h"
#include "core/support/message.h"
#include "core/templates/user_template_reader.h"
#include "core/templates/user_template_steps.h"

#include <algorithm>
#include <mutex>

namespace lathe::templates {
namespace {

constexpr std::uintmax_t kMaxTemplateFile = 1 << 20;

struct UserRegistry
{
    std::mutex mutex;
    std::vector<std::shared_ptr<const UserTemplate>> all;
};

UserRegistry& registry()
{
    static UserRegistry& known =
        *new UserRegistry; // NOLINT(cppcoreguidelines-owning-memory): rows are referred to until the end
    return known;
}

} // namespace

Result<std::shared_ptr<const UserTemplate>> userTemplateOf(std::string_view text, const std::string& file)
{
    LATHE_TRY_ASSIGN(UserDefinition read, readUserDefinition(text, file));
    const auto definition = std::make_shared<const UserDefinition>(std::move(read));
    auto made = std::make_shared<UserTemplate>();
    made->name = definition->name;
    made->row.name = made->name;
    made->row.family = kProcessorFamily;
    made->row.pattern = definition->pattern;
    made->row.space = [definition](const Workload& workload, const TemplateFacts&) {
        return userSpace(*definition, workload);
    };
    made->row.steps = [definition](const Scheduled& scheduled, const Config& config) {
        return userSteps(*definition, scheduled, config);
    };
    return std::shared_ptr<const UserTemplate>(std::move(made));
}

Result<std::shared_ptr<const UserTemplate>> readTemplateFile(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, kMaxTemplateFile));
    return userTemplateOf(text, file.string());
}

Result<> addUserTemplate(std::shared_ptr<const UserTemplate> added)
{
    const std::span<const Template> builtIn = allTemplates();
    if (std::any_of(builtIn.begin(), builtIn.end(), [&](const Template& row) { return row.name == added->name; }))
        return makeError(Errc::InvalidArgument, say(Msg::TemplateNameTaken, added->name));
    UserRegistry& known = registry();
    const std::scoped_lock lock(known.mutex);
    known.all.push_back(std::move(added)); // one that it replaces stays, since spaces may refer to it
    return {};
}

std::vector<std::shared_ptr<const UserTemplate>> userTemplates()
{
    UserRegistry& known = registry();
    const std::scoped_lock lock(known.mutex);
    std::vector<std::shared_ptr<const UserTemplate>> latest;
    for (auto each = known.all.rbegin(); each != known.all.rend(); ++each)
        if (std::none_of(latest.begin(), latest.end(), [&](const auto& l) { return l->name == (*each)->name; }))
            latest.insert(latest.begin(), *each);
    return latest;
}

} // namespace lathe::templates
