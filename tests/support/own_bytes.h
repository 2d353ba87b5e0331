#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lathe::test {

/// Memory of this process that is no file's: what a copied weight would add to. -1 where the system does not tell.
inline std::int64_t ownBytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:"))
            return std::stoll(line.substr(8)) * 1024;
    }
    return -1;
}

} // namespace lathe::test
