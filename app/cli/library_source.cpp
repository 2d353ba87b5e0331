#include "app/cli/library_source.h"

#include "core/session/back_ends.h"
#include "core/session/device_directory.h"
#include "core/session/exports/library_check.h"
#include "core/session/options/options_json.h"
#include "core/support/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::cli {

nlohmann::json libraryDescription(const std::filesystem::path& library)
{
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), ignored)) {
        if (entry.path().extension() != ".json" || entry.file_size(ignored) > (64 << 20))
            continue;
        const auto text = readFile(entry.path());
        if (!text)
            continue;
        nlohmann::json description = nlohmann::json::parse(*text, nullptr, false);
        if (description.is_object() && description.contains("library")
            && description["library"] == library.filename().string())
            return description;
    }
    return nullptr;
}

std::vector<graph::InputRange> inputRangesIn(const nlohmann::json& description,
                                             const std::vector<deploy::PortInfo>& inputs)
{
    std::vector<graph::InputRange> ranges(inputs.size());
    if (!description.is_object() || !description.contains("inputs") || !description["inputs"].is_array())
        return ranges;
    for (const nlohmann::json& port : description["inputs"])
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (textIn(port, "name") != inputs[i].name || !port.contains("range"))
                continue;
            const nlohmann::json& range = port["range"];
            if (range.is_array() && range.size() == 2 && range[0].is_number() && range[1].is_number()
                && range[0] <= range[1])
                ranges[i].range = graph::ValueRange{range[0].get<double>(), range[1].get<double>()};
        }
    return ranges;
}

void addInputOption(CLI::App& command, std::vector<std::string>& inputs, const std::string& rest)
{
    command.add_option("--input", inputs, "NAME=FILE.npy: read an input from a NumPy file; " + rest)
        ->allow_extra_args(false);
}

void printVariant(const deploy::LibraryClient& library)
{
    if (library.variants().size() > 1)
        print("variant: {} (one of {})\n", library.variant(), library.variants().size());
}

void addPlaceOptions(CLI::App& command, PlaceArguments& place)
{
    command.add_option("--device", place.device,
                       "Device to run on, by its key or device key as `lathe-cli devices` lists them (default: the "
                       "library chooses)");
    CLI::Option* const broker = command.add_option(
        "--broker", place.broker.address,
        "HOST:PORT of a broker (lathe-cli tracker): the library is sent to a device that has the key "
        "--device KEY there, and runs on it");
    command.add_option("--creds", place.broker.token, "Token for the broker, as written by lathe-cli tracker token")
        ->needs(broker);
}

namespace {

/// Of whatever kind: which of them a library has code for is known when it is loaded.
Result<session::DeviceView> findDevice(const std::string& name)
{
    const auto directory = session::DeviceDirectory::ask();
    std::vector<std::string> ready;
    for (const session::DeviceView& device : directory.all()) {
        if (!device.ready())
            continue;
        if (device.isCalled(name))
            return device;
        ready.push_back(device.key);
    }
    return makeError(Errc::NotFound,
                     fmt::format("there is no device \"{}\" here; available: {}", name, fmt::join(ready, ", ")));
}

std::string kindOf(const std::string& target)
{
    return target.substr(0, target.find(' '));
}

} // namespace

Result<std::unique_ptr<deploy::LibraryClient>> openLibrary(const LibrarySource& source,
                                                           deploy::LibraryClient::Options options)
{
    // A kernel that never ends is told after as long as compile waits for its own runs.
    options.runSeconds = std::min(options.runSeconds, session::kRunSeconds);
    options.device = source.device.key;
    options.deviceKind = source.device.kind;
    options.remote = source.remote;
    options.onNotice = [](const Message& notice) { printNotices({notice}); };
    return deploy::LibraryClient::open(source.file, options);
}

Result<LibrarySource> findLibrary(const ModelArguments& arguments, const PlaceArguments& place, bool withEstimates,
                                  unsigned threads)
{
    LibrarySource source;
    std::string device = place.device;
    if (!place.broker.address.empty()) {
        if (device.empty())
            return makeError(Errc::InvalidArgument, say(Msg::BrokerNeedsKey));
        LATHE_TRY_ASSIGN(source.remote,
                         session::remoteClaim(place.broker, std::exchange(device, {}), "run " + arguments.source()));
        withEstimates = false; // of this machine
    }
    if (arguments.source().ends_with(".so") || arguments.source().find(".so.") != std::string::npos) {
        source.file = std::filesystem::absolute(arguments.source());
        if (!std::filesystem::exists(source.file))
            return makeError(Errc::NotFound, source.file.string() + " does not exist");
        if (!device.empty()) {
            LATHE_TRY_ASSIGN(source.device, findDevice(device));
        }
        const nlohmann::json description = libraryDescription(source.file);
        if (description.is_object() && description.contains("model") && description["model"].is_object()) {
            LATHE_TRY_ASSIGN(source.model, session::modelSpecFromJson(description["model"].dump()));
            source.target = textIn(description, "target", arguments.target());
        }
        return source;
    }
    LATHE_TRY_ASSIGN(session::OpenOptions options, arguments.openOptions());
    options.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
    LATHE_TRY_ASSIGN(const Target parsed, session::parseTarget(session->options().target));
    const std::string target = parsed.text();
    if (const std::string& other = parsed.traits().standsFor; !other.empty())
        return makeError(Errc::Unsupported, say(Msg::OnlyExpects, target, other));
    if (!device.empty()) {
        LATHE_TRY_ASSIGN(const auto devices, session::DeviceDirectory::ask(kindOf(target)).pick(target, {&device, 1}));
        source.device = devices.front();
    } else if (place.broker.address.empty()) { // else it is compiled for nothing
        LATHE_TRY(session::checkDeviceHere(parsed));
    }
    printNotices(session->notices());
    LATHE_TRY_ASSIGN(TempDir folder, TempDir::create("lathe-library"));
    session::CompileOptions compile;
    compile.output = folder.path() / "libmodel.so";
    compile.name = "model";
    compile.allowDefault = true;
    compile.verify = false;
    compile.benchmark = withEstimates;
    compile.threads = threads;
    compile.device = source.device.key;
    LATHE_TRY_ASSIGN(const auto report, session->exports()->compile(compile, {}, {}));
    source.file = report.library;
    source.model = session->options().model;
    source.target = session->options().target;
    source.folder = std::move(folder);
    return source;
}

} // namespace lathe::cli
