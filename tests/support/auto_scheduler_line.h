#pragma once

#include <QtGlobal>

#include <string>

namespace lathe::test {

/// A line of an auto-scheduler's log, as the reference's own build server wrote it.
inline const std::string kSoftmax =
    "{\"i\": [[\"[\\\"d7b65649a4dd54becea0a52aabbc5af5\\\", 1, 1000, 1, 1000]\""
    ", \"cuda -keys=cuda,gpu -max_num_threads=1024 -thread_warp_size=32\", [-1, 16, 64, 49152, 2147483647, 1024, 8, "
    "32], \"\", 0]"
    ", [[], [[\"SP\", 4, 1, 1000, [40], 1], [\"AN\", 4, 2, 6], [\"FSP\", 3, 1, 0, 1], [\"AN\", 3, 2, 6], [\"CA\", 3, "
    "4, 0]"
    ", [\"CI\", 2], [\"FSP\", 1, 1, 0, 1], [\"AN\", 1, 2, 6], [\"CA\", 1, 4, 0], [\"AN\", 4, 0, 5], [\"PR\", 1, 0, "
    "\"auto_unroll_max_step$512\"], [\"PR\", 3, 0, \"auto_unroll_max_step$512\"]]]]"
    ", \"r\": [[4.87396e-06], 0, 1.30575, 1606984701], \"v\": \"v0.5\"}";

/// The text with one place changed, which must be there.
inline std::string with(std::string text, const std::string& what, const std::string& by)
{
    const auto at = text.find(what);
    if (at == std::string::npos)
        qFatal("the line has no %s", what.c_str());
    return text.replace(at, what.size(), by);
}

} // namespace lathe::test
