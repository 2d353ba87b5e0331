#pragma once

#include <functional>
#include <string_view>

namespace lathe {

enum class LogLevel
{
    Debug,
    Info,
    Warning,
    Error
};

/// One line on standard error, from any thread; `area` is a room ("measure", "store").
void log(LogLevel level, std::string_view area, std::string_view text);
/// Default: Warning, or what the environment variable LATHE_LOG says (debug, info, warning, error).
void setLogLevel(LogLevel level);
/// Lines go to `sink` as well (the window's log); an empty function ends that. Called on the thread that logs.
void setLogSink(std::function<void(LogLevel, std::string_view area, std::string_view text)> sink);

} // namespace lathe
