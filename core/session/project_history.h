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

/// `modelRow`: id of the model in the project. With `front` what a replay has not told yet is not there, nor are other runs' rounds.
Result<std::unique_ptr<History>> openHistory(const std::filesystem::path& project, std::int64_t modelRow, std::shared_ptr<const LoadedModel> model,
                                             std::shared_ptr<const ReplayFront> front = nullptr);

} // namespace lathe::session
