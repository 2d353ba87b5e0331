#include "core/templates/workload.h"

#include "core/support/message.h"

#include <algorithm>

namespace lathe::templates {
namespace {

constexpr std::size_t kMaxTaskName = 256;
constexpr std::size_t kMaxArgs = 64;

Error badWorkload(std::string part, std::string wanted)
{
    return makeError(Errc::BadFile, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

/// Objects have no place among arguments: the reference serializes none. Lists that claim to be tensors must be some.
bool isArgument(const JsonValue& arg)
{
    if (arg.members() != nullptr)
        return false;
    const JsonValue::List* list = arg.list();
    if (list == nullptr)
        return true;
    if (list->size() == 3 && (*list)[0] == JsonValue{std::string("TENSOR")})
        return (*list)[1].list() != nullptr && (*list)[2].text() != nullptr && isArgument((*list)[1]);
    return std::all_of(list->begin(), list->end(), isArgument);
}

} // namespace

std::string workloadKey(const Workload& workload)
{
    JsonValue::List list{{workload.task}};
    list.insert(list.end(), workload.args.begin(), workload.args.end());
    return jsonText({std::move(list)});
}

Result<Workload> workloadFromJson(const JsonValue& task, const JsonValue& args)
{
    if (task.text() == nullptr || task.text()->empty() || task.text()->size() > kMaxTaskName)
        return badWorkload("the task", "the name of a template");
    if (args.list() == nullptr || args.list()->size() > kMaxArgs)
        return badWorkload("args", "a list of at most " + std::to_string(kMaxArgs));
    for (std::size_t i = 0; i < args.list()->size(); ++i)
        if (!isArgument((*args.list())[i]))
            return badWorkload("args[" + std::to_string(i) + ']',
                               "a tensor [\"TENSOR\", shape, dtype], a list, a text, a number or null");
    return Workload{*task.text(), *args.list()};
}

Result<Workload> workloadFromKey(std::string_view text)
{
    LATHE_TRY_ASSIGN(const JsonValue key, parseJson(text));
    const JsonValue::List* list = key.list();
    if (list == nullptr || list->empty())
        return badWorkload("the key of a workload", "[task, arguments...]");
    return workloadFromJson(list->front(), {JsonValue::List(list->begin() + 1, list->end())});
}

} // namespace lathe::templates
