#pragma once

#include "core/session/history.h"
#include "core/session/loaded_model.h"

#include <atomic>

namespace lathe::session {

/// How much of a project a replay has told so far.
struct ReplayFront
{
    std::int64_t run = 0;
    std::atomic<std::int64_t> row = 0; ///< the latest record's
    std::atomic<double> seconds = 0; ///< of the run
};

/// Where a history is read from.
struct HistorySource
{
    std::filesystem::path project;
    std::int64_t modelRow = 0; ///< id of the model in the project
    std::shared_ptr<const LoadedModel> model;
    std::shared_ptr<const ReplayFront>
        front; ///< set: what a replay has not told yet is not there, nor are other runs' rounds
};

/// The project is opened with the first question, on the thread that asks it: that it cannot be read is said there.
std::unique_ptr<History> openHistory(HistorySource source);

/// Opens the project at once.
Result<std::unique_ptr<History>> readProjectHistory(const HistorySource& source);

} // namespace lathe::session
