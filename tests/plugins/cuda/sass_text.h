#pragma once

#include "plugins/cuda/model/sass.h"

#include <QtTest>

#include <cstdio>
#include <string>
#include <vector>

namespace lathe::cuda::testing {

/// A kernel of these instructions, 16 bytes apart, each with a stall of one cycle and no waits.
inline SassModule module(const std::vector<std::string>& lines)
{
    std::string text =
        "\t.target\tsm_86\n\t.section\t.text.k,\"ax\",@progbits\n\t.sectioninfo\t@\"SHI_REGISTERS=32\"\n.text.k:\n";
    int at = 0;
    for (const std::string& line : lines) {
        if (line.back() == ':') {
            text += line + "\n";
            continue;
        }
        char address[16];
        std::snprintf(address, sizeof address, "%04x", at);
        text += "        /*" + std::string(address) + "*/   " + line + " ;   /* 0x0000000000000000 */\n";
        text += "            /* 0x000fe20000000000 */\n";
        at += 16;
    }
    auto read = readSass(text);
    if (!read)
        qFatal("%s", read.error().message.c_str());
    return *std::move(read);
}

} // namespace lathe::cuda::testing
