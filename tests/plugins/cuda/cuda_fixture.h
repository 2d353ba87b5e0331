#pragma once

#include "plugins/cuda/codegen/nvrtc.h"

#include <QtGlobal>
#include <QtTest>

#include <string>

namespace lathe::test {

/// Whether a machine without NVIDIA's compiler is to fail the tests: LATHE_TEST_CUDA=1, where it was installed.
inline bool isCudaDemanded()
{
    return qEnvironmentVariableIntValue("LATHE_TEST_CUDA") != 0;
}

/// Of an architecture that all of them make; empty: there is a compiler.
inline std::string whyNoCompiler()
{
    const auto found = cuda::Nvrtc::find(80);
    return found ? std::string() : found.error().message;
}

} // namespace lathe::test

/// In a test: ends it where there is no compiler.
#define LATHE_NEEDS_NVRTC()                                                                                            \
    if (const std::string why = lathe::test::whyNoCompiler(); !why.empty()) {                                          \
        QVERIFY2(!lathe::test::isCudaDemanded(), why.c_str());                                                         \
        QSKIP(why.c_str());                                                                                            \
    }
