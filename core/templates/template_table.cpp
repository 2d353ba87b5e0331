#include "core/templates/template_table.h"

#include "core/ir/bounds.h"
#include "core/runtime/dtype.h"
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

bool isBuiltIn(const Template& row)
{
    const std::span<const Template> all = allTemplates();
    return std::any_of(all.begin(), all.end(), [&row](const Template& each) { return &each == &row; });
}

std::vector<const Template*> templatesOfFamily(std::string_view family)
{
    std::vector<const Template*> rows;
    for (const Template& row : allTemplates())
        if (row.family == family)
            rows.push_back(&row);
    for (const std::shared_ptr<const UserTemplate>& own : userTemplates())
        if (own->row.family == family)
            rows.push_back(&own->row); // it stays in memory (addUserTemplate())
    return rows;
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

namespace {

/// The product of sizes that a configuration chooses.
std::int64_t productOf(const Config& config, const std::vector<ThreadSize>& sizes)
{
    std::int64_t product = 1;
    for (const ThreadSize& size : sizes) {
        const std::vector<std::int64_t>* split = config.sizes(size.knob);
        if (split != nullptr && size.place < split->size())
            product = cappedProduct({product, std::max<std::int64_t>((*split)[size.place], 1)});
    }
    return product;
}

/// Of an element; 0: there is no such type.
std::int64_t bytesOf(std::string_view dtype)
{
    for (auto t = static_cast<std::uint8_t>(DType::Bool); t <= static_cast<std::uint8_t>(DType::F64); ++t)
        if (dtype == toString(static_cast<DType>(t)))
            return sizeOf(static_cast<DType>(t));
    return 0;
}

} // namespace

void limitThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes)
{
    const std::int64_t most = facts.maxThreadsPerBlock;
    if (most <= 0)
        return;
    space.addConstraint(
        {"threads per block", [most, all = std::vector(sizes)](const Config& config) -> std::optional<Message> {
             const std::int64_t threads = productOf(config, all);
             if (threads <= most)
                 return std::nullopt;
             return say(Msg::ThreadsOverBlock, threads, most, "max_threads_per_block");
         }});
}

void limitVirtualThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes)
{
    const std::int64_t most = facts.maxVirtualThreads;
    if (most <= 0)
        return;
    space.addConstraint(
        {"virtual threads", [most, all = std::vector(sizes)](const Config& config) -> std::optional<Message> {
             const std::int64_t threads = productOf(config, all);
             if (threads <= most)
                 return std::nullopt;
             return say(Msg::VirtualThreadsOver, threads, most, "max_vthread_extent");
         }});
}

void limitShared(ConfigSpace& space, const TemplateFacts& facts, const std::string& dtype, SharedTiles tiles)
{
    const std::int64_t most = facts.maxSharedBytes;
    const std::int64_t size = bytesOf(dtype);
    if (most <= 0 || size == 0)
        return;
    space.addConstraint(
        {"shared memory", [most, size, tiles = std::move(tiles)](const Config& config) -> std::optional<Message> {
             constexpr std::int64_t kAligned = 16; // each tile begins at a whole vector
             std::int64_t bytes = 0;
             for (const std::vector<std::int64_t>& shape : tiles(config))
                 bytes += ir::ceilDivide(cappedProduct(shape) * size, kAligned) * kAligned;
             if (bytes <= most)
                 return std::nullopt;
             return say(Msg::SharedOverBlock, bytes, most, "max_shared_memory_per_block");
         }});
}

std::int64_t innerSize(const Config& config, const std::string& knob)
{
    std::int64_t product = 1;
    if (const std::vector<std::int64_t>* split = config.sizes(knob))
        for (std::size_t i = 1; i < split->size(); ++i)
            product = cappedProduct({product, std::max<std::int64_t>((*split)[i], 1)});
    return std::min<std::int64_t>(product, 1 << 24);
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
