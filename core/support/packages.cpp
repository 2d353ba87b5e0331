#include "core/support/packages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace lathe {

std::string packageIn(std::string_view words)
{
    static constexpr std::array<std::string_view, 5> kAbsent = {"not installed", "cannot open shared object",
                                                                "cannot be opened", "cannot be loaded", "no such file"};
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kPackages = {{
        {"libnvrtc", "nvidia-cuda-toolkit"},
        {"nvcc", "nvidia-cuda-toolkit"},
        {"libcuda.so", "nvidia-driver"},
        {"libOpenCL", "ocl-icd-libopencl1"},
        {"ld.lld", "lld-19"},
        {"libLLVM", "libllvm19"},
        {"libgomp", "libgomp1"},
        {"libc.so.6", "libc6"},
        {"libm.so.6", "libc6"},
        {"libpthread.so.0", "libc6"},
    }};
    std::string low(words);
    std::transform(low.begin(), low.end(), low.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::none_of(kAbsent.begin(), kAbsent.end(),
                     [&low](std::string_view absent) { return low.find(absent) != std::string::npos; }))
        return {};
    for (const auto& [part, package] : kPackages)
        if (words.find(part) != std::string_view::npos)
            return std::string(package);
    return {};
}

Message notLoaded(std::string_view file, std::string_view words)
{
    return say(Msg::PluginNotLoaded, file, words, packageIn(words));
}

} // namespace lathe
