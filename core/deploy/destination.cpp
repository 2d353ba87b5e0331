#include "core/deploy/destination.h"

#include "core/deploy/shared_object.h"
#include "core/support/message.h"

#include <algorithm>
#include <fstream>

namespace fs = std::filesystem;

namespace lathe::deploy {

namespace {

/// How far into a file its mark may be.
constexpr std::size_t kMarkReach = 512;

bool hasMark(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::string start(kMarkReach, '\0');
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(in.gcount()));
    return start.find(kOwnMark) != std::string::npos;
}

/// Nothing is lost with it.
bool isFree(const fs::path& file)
{
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found)
        return true;
    return status.type() == fs::file_type::regular && fs::file_size(file, error) == 0 && !error;
}

} // namespace

ExportedFiles ExportedFiles::of(const fs::path& library, const std::string& name)
{
    ExportedFiles files;
    const fs::path folder = library.parent_path();
    files.library = library;
    files.header = folder / (name + ".h");
    files.description = folder / (name + ".json");
    for (const char* suffix : {".c", ".cpp", ".py"})
        files.examples.push_back(folder / (name + "_example" + suffix));
    return files;
}

std::vector<fs::path> ExportedFiles::all() const
{
    std::vector<fs::path> list = {library, header, description};
    list.insert(list.end(), examples.begin(), examples.end());
    return list;
}

std::vector<fs::path> foreignFiles(const ExportedFiles& files)
{
    std::vector<fs::path> foreign;
    for (const fs::path& file : files.all())
        if (!isFree(file) && !(file == files.library ? findLibraryName(file).has_value() : hasMark(file)))
            foreign.push_back(file);
    return foreign;
}

Result<> checkDestination(const ExportedFiles& files, bool overwrite)
{
    if (files.library.filename().empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoLibraryFile, files.library.string()));
    std::error_code error;
    if (!fs::is_directory(files.library.parent_path(), error))
        return makeError(Errc::InvalidArgument, say(Msg::NoFolder, files.library.parent_path().string()));
    const std::vector<fs::path> all = files.all();
    if (std::ranges::count(all, files.library) > 1)
        return makeError(Errc::InvalidArgument, say(Msg::LibraryNamedAsCompanion, files.library.string()));
    for (const fs::path& file : all)
        if (fs::exists(file, error) && !fs::is_regular_file(file, error))
            return makeError(Errc::InvalidArgument, say(Msg::FileNotRegular, file.string()));
    if (overwrite)
        return {};
    std::vector<std::string> names;
    for (const fs::path& file : foreignFiles(files))
        names.push_back(file.string());
    if (!names.empty())
        return makeError(Errc::InvalidArgument, say(Msg::ForeignFiles, names));
    return {};
}

} // namespace lathe::deploy
