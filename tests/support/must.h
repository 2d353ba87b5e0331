#pragma once

#include "core/support/result.h"

#include <QtGlobal>

#include <utility>

namespace lathe::test {

/// The value, or the end of the test program with the error's sentence: for what a test needs but does not test.
template<typename T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return *std::move(result);
}

} // namespace lathe::test
