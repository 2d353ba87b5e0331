#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace lathe::cuda {

/// NVIDIA's disassembler: the file that LATHE_NVDISASM names and nothing else, if it is set; else what lies in
/// `beside`/../bin (`beside`: the folder of NVRTC's library, as the packages have it), in PATH or in
/// /usr/local/cuda/bin. Errors: NotFound, with the package to install.
Result<std::filesystem::path> findNvdisasm(const std::filesystem::path& beside = {});

/// What readSass() reads, of a cubin. Takes some ten milliseconds for a kernel. Errors: BuildFailed with the tool's
/// words; RunTimeout after a minute; StoreFailed if there is no room for the file that it reads.
Result<std::string> disassemble(const std::filesystem::path& nvdisasm, std::string_view cubin);

} // namespace lathe::cuda
