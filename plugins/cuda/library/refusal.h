#pragma once

#include "core/runtime/image.h"
#include "core/runtime/status.h"
#include "plugins/cuda/device/driver_functions.h"

namespace lathe::cuda {

/// What the driver refused: the words complete "CUDA refuses ...", and the driver's own follow.
runtime::Status refused(runtime::ErrorText& error, const Driver& driver, int code, const char* doing, ...)
    __attribute__((format(printf, 4, 5)));
/// What became of commands that the driver had accepted: the words complete "CUDA failed at ...".
runtime::Status failedAt(runtime::ErrorText& error, const Driver& driver, int code, const char* doing, ...)
    __attribute__((format(printf, 4, 5)));
runtime::Status noHostMemory(runtime::ErrorText& error);

/// Makes a context that of this thread, and leaves at its end what was there before: the caller's own, or none. What is
/// called meanwhile does not disturb graphs that the caller's program captures in other streams, and is not forbidden
/// by them (CU_STREAM_CAPTURE_MODE_GLOBAL forbids all threads to allocate, and the capture fails if one tries).
class Current
{
public:
    Current(const Driver& driver, Context context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    int code() const { return m_code; } ///< kSuccess, or why nothing can be done in it

private:
    const Driver& m_driver;
    Context m_before = nullptr;
    bool m_isOther = false, m_isRelaxed = false;
    int m_code = kSuccess;
    int m_mode = kCaptureRelaxed; ///< of this thread; once that is m_isRelaxed, the one before
};

} // namespace lathe::cuda
