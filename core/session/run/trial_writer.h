#pragma once

#include "core/session/run/run_parts.h"

#include <chrono>
#include <functional>
#include <vector>

namespace lathe::session {

/// Records of trials on their way to disk: stored in small batches, and acknowledged after that.
class TrialWriter
{
public:
    TrialWriter(RunParts& parts, std::function<void(const Record&, std::vector<Event>&)> acknowledge);

    void add(const Record& record);
    /// What is left. StoreFailed: as of the first batch that could not be stored; none is since.
    Result<> finish();

private:
    void flush();

    RunParts& m_parts;
    std::function<void(const Record&, std::vector<Event>&)> m_acknowledge;
    std::vector<Record> m_pending;
    Result<> m_stored;
    std::chrono::steady_clock::time_point m_lastFlush = std::chrono::steady_clock::now();
};

} // namespace lathe::session
