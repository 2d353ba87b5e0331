#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cuda {

/// NVIDIA's disassembler: the file that LATHE_NVDISASM names and nothing else, if it is set; else what lies in ../bin
/// of one of the folders `beside` (of NVRTC's library, as the packages have it), in PATH, in Lathe's data folder
/// (wheels.h) or in /usr/local/cuda/bin.
/// Files that everybody may write to are not taken (checkTrusted()). Errors: NotFound, with the package to install.
Result<std::filesystem::path> findNvdisasm(const std::vector<std::filesystem::path>& beside = {});

/// What readSass() reads, of a cubin. The tool takes a fifth of a second to start and a millisecond for a kernel, so
/// that many kernels are better in one cubin. Errors: BuildFailed with the tool's
/// words; RunTimeout after a minute; StoreFailed if there is no room for the file that it reads.
Result<std::string> disassemble(const std::filesystem::path& nvdisasm, std::string_view cubin);

} // namespace lathe::cuda
