#pragma once

#include "core/session/events.h"
#include "core/session/loaded_model.h"
#include "core/session/run_control.h"
#include "core/store/record_reader.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace lathe::session {

/// Follows a project that another program writes to: looks four times a second whether something was added, and tells
/// it as the events of a run (follow_part.h). What was stored when it began is for views to read; it tells only where
/// the run stands then.
///
/// A run that is stored as going on is believed to go on if its writer holds the project, and has stored something
/// since: a run that was cut off keeps its state, whoever comes next.
///
/// Threads: its own, from begin() until it is destroyed; writer() from any.
class ProjectFollower
{
public:
    /// `tasks` reads the tasks' figures; called on the follower's thread. All references outlive it.
    ProjectFollower(std::filesystem::path project, std::int64_t modelRow, std::shared_ptr<const LoadedModel> model,
                    RunControl& control, std::function<std::vector<TaskView>()> tasks);
    ~ProjectFollower();
    ProjectFollower(const ProjectFollower&) = delete;
    ProjectFollower& operator=(const ProjectFollower&) = delete;

    /// Once; the control's observer is told from then on.
    void begin();
    std::optional<ProjectWriter> writer() const;

private:
    /// A round whose end is not told yet.
    struct Round
    {
        double began = 0; ///< seconds of the run
        std::int64_t firstMs = 0; ///< clock time of its first trial; 0: none yet
    };
    void follow(std::stop_token stop);
    void lookForWriter(std::vector<Event>& events);
    Result<> look(std::vector<Event>& events);
    Result<> lookAt(const store::SessionRow& run, std::vector<Event>& events);
    Result<> readEvents(std::vector<Event>& events);
    Result<> readTrials(std::vector<Event>& events);
    Result<> readRounds(std::vector<Event>& events);
    bool isLive(const store::SessionRow& run) const;
    void tellState(const store::SessionRow& run, std::vector<Event>& events);
    std::int32_t taskOf(const std::string& key) const;

    const std::filesystem::path m_project;
    const std::int64_t m_modelRow;
    const std::shared_ptr<const LoadedModel> m_model;
    RunControl& m_control;
    const std::function<std::vector<TaskView>()> m_tasks;
    std::map<std::string, std::int32_t> m_taskOfKey;
    std::thread m_thread;
    std::stop_source m_stop;
    mutable std::mutex m_mutex; ///< of m_writer
    std::optional<ProjectWriter> m_writer;
    // Of the thread:
    std::optional<store::RecordReader> m_reader;
    std::int64_t m_version = -1; ///< of the project as read last
    bool m_begun = false; ///< it knows where the project stood at first
    std::int64_t m_writesSinceMs = 0; ///< the writer
    std::int64_t m_run = 0, m_lastEvent = 0, m_lastRow = 0, m_latestMs = 0; ///< told; clock time of the last record
    std::int32_t m_rounds = 0; ///< told as ended
    std::map<std::int32_t, Round> m_open; ///< by index
};

} // namespace lathe::session
