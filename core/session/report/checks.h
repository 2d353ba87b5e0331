#pragma once

#include "core/session/report/comparison.h"
#include "core/support/message.h"

#include <vector>

namespace lathe::session {

/// What a reader asks before trusting a project's figures, and whether the answer is as it should be.
struct Check
{
    bool good = false;
    Message text;
};
std::vector<Check> checksOf(const Standing& standing);

} // namespace lathe::session
