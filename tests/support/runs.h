#pragma once

#include "core/session/session.h"
#include "core/store/project.h"
#include "tests/support/must.h"

#include <QTemporaryDir>

#include <functional>
#include <mutex>

namespace lathe::test {

/// Keeps what a run tells.
struct Watcher final : session::SessionObserver
{
    std::function<void(const session::Event&)> onEvent; ///< called as it is told

    Watcher() = default;
    Watcher(session::TuningSession& of, const session::TuneOptions& options) { run(of, options); }

    /// From the start to the end.
    void run(session::TuningSession& of, const session::TuneOptions& options)
    {
        of.setObserver(this);
        must(of.start(options));
        of.wait();
        of.setObserver(nullptr);
    }

    std::vector<session::Event> events() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_events;
    }
    template<typename T>
    std::vector<T> all() const
    {
        std::vector<T> found;
        for (const session::Event& event : events())
            if (const T* what = std::get_if<T>(&event.what))
                found.push_back(*what);
        return found;
    }

    void onEvents(std::span<const session::Event> more) override
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_events.insert(m_events.end(), more.begin(), more.end());
        }
        for (const session::Event& event : more)
            if (onEvent)
                onEvent(event);
    }

private:
    mutable std::mutex m_mutex;
    std::vector<session::Event> m_events;
};

/// A folder of projects, for runs of a small network.
class Projects
{
public:
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    std::unique_ptr<session::TuningSession> open(const char* project, const std::string& target = "sim",
                                                 const char* model = "zoo:mlp") const
    {
        session::OpenOptions options;
        options.model.source = model;
        options.target = target;
        options.project = file(project);
        return must(session::TuningSession::open(options));
    }
    /// The latest run of a project, played as fast as it can be.
    std::unique_ptr<session::TuningSession> replay(const char* project) const
    {
        session::OpenOptions options;
        options.project = file(project);
        options.replay = session::ReplayOptions{0, 1e6};
        return must(session::TuningSession::open(options));
    }
    store::Project reader(const char* project) const
    {
        return must(store::Project::open(file(project), store::Project::Access::Read));
    }

private:
    QTemporaryDir m_dir;
};

/// Few trials in small rounds, that come quickly.
inline session::TuneOptions few(std::int64_t trials)
{
    session::TuneOptions options;
    options.trials = trials;
    options.trialsPerRound = 8;
    options.policy = "random";
    options.buildJobs = 1;
    return options;
}

/// The trials of a project's first run, without the finals, which measure again what is there.
inline std::vector<Record> searched(const store::Project& project)
{
    std::vector<Record> records = must(project.sessionRecords(1));
    std::erase_if(records, [](const Record& record) { return record.round < 0; });
    return records;
}

} // namespace lathe::test
