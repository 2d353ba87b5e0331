#include "plugins/cuda/model/wheels.h"

#include "core/support/files.h"

namespace lathe::cuda {

std::filesystem::path wheelFolder(const std::string& package)
{
    const std::filesystem::path data = userDataFolder();
    return data.empty() ? data : data / package;
}

namespace {

/// As a shell takes it for one word.
std::string quoted(const std::string& word)
{
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
        == std::string::npos)
        return word;
    std::string made = "\"";
    for (const char c : word)
        made += std::string(c == '"' || c == '\\' || c == '$' || c == '`' ? "\\" : "") + c;
    return made + '"';
}

} // namespace

std::string wheelCommand(const std::string& package)
{
    const std::string folder = wheelFolder(package).string();
    return "pip install --upgrade " + (folder.empty() ? "" : "--target " + quoted(folder) + ' ') + package;
}

} // namespace lathe::cuda
