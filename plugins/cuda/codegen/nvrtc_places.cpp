#include "core/support/files.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/model/nvdisasm.h"
#include "plugins/cuda/model/wheels.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <system_error>

namespace lathe::cuda {
namespace {

namespace fs = std::filesystem;

/// What NVIDIA's wheels call the folder: those of CUDA 13, and those of 12 and 11.
constexpr const char* kOfWheels[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};

void addIfThere(std::vector<fs::path>& folders, const fs::path& folder)
{
    std::error_code ignored;
    if (fs::is_directory(folder, ignored) && std::ranges::find(folders, folder) == folders.end())
        folders.push_back(folder);
}

/// Of every Python below a prefix: PREFIX/lib/python3*/site-packages, Debian's dist-packages.
void addPackages(std::vector<fs::path>& folders, const fs::path& prefix)
{
    std::error_code ignored;
    std::vector<fs::path> pythons;
    for (fs::directory_iterator it(prefix / "lib", ignored), end; !ignored && it != end; it.increment(ignored))
        if (it->path().filename().string().starts_with("python3"))
            pythons.push_back(it->path());
    std::ranges::sort(pythons);
    for (const fs::path& python : pythons)
        for (const char* const packages : {"site-packages", "dist-packages"})
            for (const char* const wheel : kOfWheels)
                addIfThere(folders, python / packages / wheel);
}

} // namespace

std::vector<fs::path> nvrtcFolders()
{
    std::vector<fs::path> folders;
    for (const char* const package : {kNvrtcPackage, kNvrtc12Package})
        for (const char* const wheel : kOfWheels)
            if (const fs::path folder = wheelFolder(package); !folder.empty())
                addIfThere(folders, folder / wheel);
    addIfThere(folders, "/usr/local/cuda/lib64");
    if (const char* const home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        addPackages(folders, fs::path(home) / ".local");
    for (const fs::path& bin : pathFolders())
        if (bin.filename() == "bin")
            addPackages(folders, bin.parent_path());
    return folders;
}

Result<fs::path> findDisassembler()
{
    std::vector<fs::path> folders;
    if (const char* const told = std::getenv("LATHE_NVRTC"); told != nullptr && told[0] != '\0') {
        std::error_code ignored;
        folders.push_back(fs::is_directory(told, ignored) ? fs::path(told) : fs::path(told).parent_path());
    }
    std::ranges::move(nvrtcFolders(), std::back_inserter(folders));
    return findNvdisasm(folders);
}

} // namespace lathe::cuda
