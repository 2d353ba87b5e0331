#include "core/support/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

namespace lathe {

namespace {

using Sink = std::function<void(LogLevel, std::string_view, std::string_view)>;

spdlog::level::level_enum toSpdlog(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

LogLevel levelOfEnvironment()
{
    const char* text = std::getenv("LATHE_LOG");
    const std::string_view word = text ? text : "";
    if (word == "debug")
        return LogLevel::Debug;
    if (word == "info")
        return LogLevel::Info;
    return word == "error" ? LogLevel::Error : LogLevel::Warning;
}

struct Logger
{
    std::shared_ptr<spdlog::logger> out;
    std::mutex mutex;
    std::shared_ptr<const Sink> sink;

    Logger()
        : out(std::make_shared<spdlog::logger>("lathe", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()))
    {
        out->set_pattern("%H:%M:%S.%e %^%l%$ %v");
        out->set_level(toSpdlog(levelOfEnvironment()));
    }
};

Logger& logger()
{
    static Logger instance;
    return instance;
}

} // namespace

void log(LogLevel level, std::string_view area, std::string_view text)
{
    Logger& l = logger();
    l.out->log(toSpdlog(level), "{}: {}", area, text);
    std::shared_ptr<const Sink> sink;
    {
        const std::scoped_lock lock(l.mutex);
        sink = l.sink;
    }
    if (sink)
        (*sink)(level, area, text);
}

void setLogLevel(LogLevel level)
{
    logger().out->set_level(toSpdlog(level));
}

void setLogSink(std::function<void(LogLevel, std::string_view, std::string_view)> sink)
{
    Logger& l = logger();
    const std::scoped_lock lock(l.mutex);
    l.sink = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
}

} // namespace lathe
