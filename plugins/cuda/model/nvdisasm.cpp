#include "plugins/cuda/model/nvdisasm.h"

#include "core/support/files.h"
#include "core/support/message.h"
#include "core/support/subprocess.h"
#include "core/support/trusted_file.h"
#include "plugins/cuda/model/wheels.h"

#include <cstdlib>

namespace lathe::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "nvidia-cuda-nvdisasm";

bool isProgram(const fs::path& path)
{
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && checkTrusted(path);
}

} // namespace

Result<fs::path> findNvdisasm(const std::vector<fs::path>& beside)
{
    std::vector<fs::path> places;
    if (const char* const told = std::getenv("LATHE_NVDISASM"); told != nullptr && told[0] != '\0') {
        places.emplace_back(told);
    } else {
        for (const fs::path& folder : beside)
            if (!folder.empty())
                places.push_back(folder.parent_path() / "bin" / "nvdisasm");
        for (const fs::path& folder : pathFolders())
            places.push_back(folder / "nvdisasm");
        if (const fs::path folder = wheelFolder(kPackage); !folder.empty())
            places.push_back(folder / "nvidia/cu13/bin/nvdisasm");
        places.emplace_back("/usr/local/cuda/bin/nvdisasm");
    }
    for (const fs::path& place : places)
        if (isProgram(place))
            return place;
    return makeError(Errc::NotFound, say(Msg::CudaModelNoDisassembler, wheelCommand(kPackage)));
}

Result<std::string> disassemble(const fs::path& nvdisasm, std::string_view cubin)
{
    LATHE_TRY_ASSIGN(const TempDir folder, TempDir::create("lathe-sass"));
    const fs::path file = folder.path() / "kernel.cubin";
    LATHE_TRY(writeFileAtomically(file, cubin));
    SubprocessOptions options;
    options.program = nvdisasm;
    options.arguments = {"-hex", file.string()};
    LATHE_TRY_ASSIGN(RunOutput output, runProcess(options, {}, Deadline::inSeconds(60)));
    if (!output.exit.ok())
        return makeError(Errc::BuildFailed, say(Msg::CudaModelDisassembler, output.exit.text() + ": " + output.errors));
    return std::move(output.output);
}

} // namespace lathe::cuda
