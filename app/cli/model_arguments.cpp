#include "app/cli/command.h"

#include <fmt/format.h>

namespace lathe::cli {

void ModelArguments::addTo(CLI::App& command, bool modelRequired)
{
    m_open.addTo(command);
    m_model.addTo(command);
    if (modelRequired)
        command.get_option("MODEL")->required();
}

Result<session::OpenOptions> ModelArguments::openOptions(bool severalTargets) const
{
    LATHE_TRY(m_model.problem);
    LATHE_TRY(m_open.problem);
    session::OpenOptions options = m_open.values;
    options.model = m_model.values;
    if (!options.variants.empty() && !severalTargets)
        return makeError(Errc::InvalidArgument, "only compile takes --target more than once");
    return options;
}

void printNotices(const std::vector<Message>& notices)
{
    for (const Message& notice : notices)
        fmt::print(stderr, "lathe-cli: {}\n", textOf(notice));
}

} // namespace lathe::cli
