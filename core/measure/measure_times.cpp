#include "core/measure/measure_times.h"

#include "core/wire/messages.h"

#include <algorithm>
#include <utility>

namespace lathe::measure {

namespace {

/// A piece of no time is none.
void add(MeasureTimes& times, const char* piece, double ms, double processorMs)
{
    if (ms <= 0 && processorMs <= 0)
        return;
    WorkerTime& time = times.workers[piece];
    time.seconds += 1e-3 * ms;
    time.processorSeconds += 1e-3 * processorMs;
}

} // namespace

void addBuild(MeasureTimes& times, const wire::BuildResult& answer)
{
    double told = 0;
    for (const auto& [piece, ms] :
         {std::pair{"lower", answer.lower_processor_ms()}, std::pair{"generate", answer.generate_processor_ms()},
          std::pair{"link", answer.link_processor_ms()}}) {
        add(times, piece, ms, ms);
        told += ms;
    }
    const double rest = std::max(0.0, answer.processor_ms() - told);
    add(times, "builder other", rest, rest);
}

void addRun(MeasureTimes& times, const wire::RunResult& answer, double ms)
{
    add(times, "upload", answer.prepare_ms(), answer.prepare_processor_ms());
    add(times, "device build", answer.build_ms(), answer.build_processor_ms());
    add(times, "check", answer.check_ms(), answer.check_processor_ms());
    add(times, "measure", answer.measure_ms(), answer.measure_processor_ms());
    const double known = answer.prepare_ms() + answer.build_ms() + answer.check_ms() + answer.measure_ms();
    const double knownProcessor = answer.prepare_processor_ms() + answer.build_processor_ms()
                                  + answer.measure_processor_ms() + answer.check_processor_ms();
    add(times, "runner other", std::max(0.0, ms - known), std::max(0.0, answer.processor_ms() - knownProcessor));
}

} // namespace lathe::measure
