#include "app/cli/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

nlohmann::json inputSizes(const session::TuningSession& session)
{
    nlohmann::json sizes = nlohmann::json::array();
    for (const auto& dimension : session.inputSizes()) {
        nlohmann::json places = nlohmann::json::array();
        for (const auto& place : dimension.places)
            places.push_back({{"input", place.input}, {"axis", place.axis}});
        sizes.push_back({{"name", dimension.name}, {"size", dimension.size.value_or(1)}, {"places", places}});
    }
    return sizes;
}

void printInputSizes(const session::TuningSession& session)
{
    std::vector<std::string> sizes;
    for (const auto& dimension : session.inputSizes())
        sizes.push_back(fmt::format("{} = {}", dimension.name, dimension.size.value_or(1)));
    if (!sizes.empty())
        cli::print("input sizes  {}\n", fmt::join(sizes, ", "));
}

void printNotices(const std::vector<Message>& notices)
{
    for (const Message& notice : notices)
        fmt::print(stderr, "lathe-cli: {}\n", textOf(notice));
}

} // namespace lathe::cli
