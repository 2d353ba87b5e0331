#include "app/cli/library_source.h"

#include <nlohmann/json.hpp>

namespace lathe::cli {

Result<LibrarySource> findLibrary(const ModelArguments& arguments)
{
    LibrarySource source;
    if (arguments.model.ends_with(".so") || arguments.model.find(".so.") != std::string::npos) {
        source.file = std::filesystem::absolute(arguments.model);
        if (!std::filesystem::exists(source.file))
            return makeError(Errc::NotFound, source.file.string() + " does not exist");
        auto description = source.file;
        description.replace_extension(".json");
        std::error_code ignored;
        if (std::filesystem::exists(description, ignored)) {
            LATHE_TRY_ASSIGN(const std::string text, readFile(description, 64 << 20));
            const auto json = nlohmann::json::parse(text, nullptr, false);
            if (json.is_object() && json.contains("network") && json["network"].is_string())
                source.network = json["network"].get<std::string>();
        }
        return source;
    }
    LATHE_TRY_ASSIGN(session::OpenOptions options, arguments.openOptions());
    options.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
    LATHE_TRY_ASSIGN(TempDir folder, TempDir::create("lathe-library"));
    session::CompileOptions compile;
    compile.output = folder.path() / "libmodel.so";
    compile.name = "model";
    compile.allowDefault = true;
    compile.verify = false;
    compile.benchmark = false;
    LATHE_TRY_ASSIGN(const auto report, session->compile(compile, {}, {}));
    source.file = report.library;
    source.network = arguments.model;
    source.folder = std::move(folder);
    return source;
}

} // namespace lathe::cli
