#include "plugins/cuda/library/refusal.h"

#include <cstdarg>
#include <cstdio>

namespace lathe::cuda {

using runtime::ErrorText;
using runtime::Status;

namespace {

Status statusOf(int code)
{
    return code == kOutOfMemory ? Status::NoMemory : Status::KernelFailed;
}

} // namespace

Status refused(ErrorText& error, const Driver& driver, int code, const char* doing, ...)
{
    char words[240];
    va_list arguments;
    va_start(arguments, doing);
    std::vsnprintf(words, sizeof words, doing, arguments);
    va_end(arguments);
    error.set("CUDA refuses %s: %s", words, errorName(driver, code).text);
    return statusOf(code);
}

Status failedAt(ErrorText& error, const Driver& driver, int code, const char* doing, ...)
{
    char words[240];
    va_list arguments;
    va_start(arguments, doing);
    std::vsnprintf(words, sizeof words, doing, arguments);
    va_end(arguments);
    error.set("CUDA failed at %s: %s", words, errorName(driver, code).text);
    return statusOf(code);
}

Status noHostMemory(ErrorText& error)
{
    error.set("no memory for what CUDA's objects need on the host");
    return Status::NoMemory;
}

Current::Current(const Driver& driver, Context context)
    : m_driver(driver)
{
    m_code = driver.contextGetCurrent(&m_before);
    if (m_code == kSuccess && m_before != context) {
        m_code = driver.contextSetCurrent(context);
        m_isOther = m_code == kSuccess;
    }
    m_isRelaxed = m_code == kSuccess && driver.exchangeCaptureMode != nullptr
                  && driver.exchangeCaptureMode(&m_mode) == kSuccess;
}

Current::~Current()
{
    if (m_isRelaxed)
        m_driver.exchangeCaptureMode(&m_mode);
    if (m_isOther)
        m_driver.contextSetCurrent(m_before);
}

} // namespace lathe::cuda
