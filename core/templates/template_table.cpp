#include "core/templates/template_table.h"

#include "core/templates/fallback.h"
#include "core/templates/spaces.h"
#include "core/templates/user_template.h"

#include <algorithm>
#include <array>

namespace lathe::templates {

std::span<const Template> allTemplates()
{
    static const std::vector<Template> all = [] {
        std::vector<Template> rows = x86Templates();
        for (const std::vector<Template>& more : {cudaTemplates(), maliTemplates()})
            rows.insert(rows.end(), more.begin(), more.end());
        return rows;
    }();
    return all;
}

const Template* findTemplate(std::string_view name)
{
    const std::span<const Template> all = allTemplates();
    const auto found = std::find_if(all.begin(), all.end(), [name](const Template& each) { return each.name == name; });
    if (found != all.end())
        return &*found;
    for (const std::shared_ptr<const UserTemplate>& own : userTemplates())
        if (own->name == name)
            return &own->row; // it stays in memory (addUserTemplate())
    return nullptr;
}

Result<ConfigSpace> spaceOf(const Workload& workload, const TemplateFacts& facts)
{
    const Template* found = findTemplate(workload.task);
    if (found == nullptr)
        return makeError(Errc::NotFound, say(Msg::TemplateUnknown, workload.task));
    return found->space(workload, facts);
}

Result<Config> fallbackOf(const Workload& workload, const TemplateFacts& facts)
{
    LATHE_TRY_ASSIGN(const ConfigSpace space, spaceOf(workload, facts));
    const Template* found = findTemplate(workload.task);
    return found->fallback == nullptr ? plainFallback(space) : found->fallback(workload, facts, space);
}

void limitThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes)
{
    const std::int64_t most = facts.maxThreadsPerBlock;
    if (most <= 0)
        return;
    space.addConstraint(
        {"threads per block", [most, all = std::vector(sizes)](const Config& config) -> std::optional<Message> {
             std::int64_t threads = 1;
             for (const ThreadSize& size : all) {
                 const std::vector<std::int64_t>* split = config.sizes(size.knob);
                 if (split != nullptr && size.place < split->size())
                     threads *= std::clamp<std::int64_t>((*split)[size.place], 1, 1 << 20);
             }
             if (threads <= most)
                 return std::nullopt;
             return say(Msg::ThreadsOverBlock, threads, most, "max_threads_per_block");
         }});
}

Error notFor(const Workload& workload, std::string_view part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, part, std::move(wanted))).note(workload.task);
}

Result<> checkUnitSteps(const Workload& workload, const ConvArgs& conv)
{
    constexpr std::array<std::int64_t, 2> kOnes = {1, 1};
    if (conv.strides != kOnes || conv.dilation != kOnes)
        return notFor(workload, "each stride and dilation", "1");
    return {};
}

} // namespace lathe::templates
