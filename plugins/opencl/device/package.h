#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::opencl {

/// Name of the artifact's format in its descriptor.
inline constexpr const char* kFormat = "opencl-c";

/// A program of an artifact: launches as OpenCL C, and what the builder's driver made of that, if it has one.
struct PackedProgram
{
    std::string source;
    std::string binary; ///< empty: there is none
    std::string madeFor; ///< DeviceFacts::identity of the device whose driver made `binary`
    std::string symbols = {}; ///< of the launches, one a line
};

/// An artifact's bytes (package_view.h). Launches find their programs by their symbols.
std::vector<std::byte> pack(std::span<const PackedProgram> programs);
/// False: these are not the bytes of pack().
bool unpack(std::string_view bytes, std::vector<PackedProgram>& programs);

} // namespace lathe::opencl
