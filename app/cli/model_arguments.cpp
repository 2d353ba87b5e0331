#include "app/cli/command.h"

#include <fmt/format.h>

#include <charconv>

namespace lathe::cli {

void ModelArguments::addTo(CLI::App& command, bool modelRequired)
{
    auto* option = command.add_option("MODEL", model, "An ONNX file or zoo:NAME (lathe-cli zoo list)");
    if (modelRequired)
        option->required();
    command.add_option("--target", target, "What code is made for: cpu, cuda, opencl, sim, with -key=value words [what the project was last tuned for, else cpu]");
    command.add_option("--project", project, "Project file with the history, NAME.lathe");
    command.add_option("--batch", batch, "Sets the leading dimension of all inputs");
    command.add_option("--shape", shapes, "IN=1,3,224,224 sets an input's shape")->allow_extra_args(false);
    command.add_option("--layout", layout, "NHWC or NCHW")->check(CLI::IsMember({"NHWC", "NCHW"}));
    command.add_option("--partition", partition, "reference or lathe")->check(CLI::IsMember({"reference", "lathe"}))->capture_default_str();
    command.add_option("--hardware", hardware, "Hardware parameters that search respects: a file of name = value lines or JSON, or a CPU's name as of -mcpu; stored with the project");
    command.add_option("--weight-seed", weightSeed, "Seed of a zoo network's weights, below 2^32")->capture_default_str();
}

Result<session::OpenOptions> ModelArguments::openOptions() const
{
    session::OpenOptions options;
    options.model.source = model;
    options.model.layout = layout;
    options.model.partition = partition;
    options.model.hardware = hardware;
    options.model.seed = weightSeed;
    if (batch < 0)
        return makeError(Errc::InvalidArgument, fmt::format("--batch is {}, it must be at least 1", batch));
    if (batch > 0)
        options.model.batch = batch;
    for (const std::string& text : shapes) {
        const std::size_t equals = text.find('=');
        std::vector<std::int64_t> shape;
        bool good = equals != std::string::npos && equals > 0;
        for (std::size_t at = equals + 1; good && at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            std::int64_t dim = 0;
            const auto [end, error] = std::from_chars(text.data() + at, text.data() + comma, dim);
            good = error == std::errc() && end == text.data() + comma && dim > 0;
            shape.push_back(dim);
            at = comma + 1;
        }
        if (!good)
            return makeError(Errc::InvalidArgument, fmt::format("--shape {} is not of the form IN=1,3,224,224", text));
        options.model.shapes.emplace_back(text.substr(0, equals), std::move(shape));
    }
    options.target = target;
    options.project = project;
    return options;
}

void printNotices(const std::vector<Message>& notices)
{
    for (const Message& notice : notices)
        fmt::print(stderr, "lathe-cli: {}\n", textOf(notice));
}

Result<double> parseDuration(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (error != std::errc() || scale == 0 || !(value > 0) || value * scale > 1e9)
        return makeError(Errc::InvalidArgument, fmt::format("'{}' is no duration: write 90s, 20m or 1.5h", text));
    return value * scale;
}

} // namespace lathe::cli
