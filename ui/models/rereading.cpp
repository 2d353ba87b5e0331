#include "ui/models/rereading.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/workspace.h"

#include <utility>

namespace lathe::ui {

namespace {

constexpr int kRereadMs = 5000; ///< while a run measures: to read the records of tasks is work

} // namespace

Rereading::Rereading(Workspace& workspace, std::function<bool()> begin, QObject* parent)
    : QObject(parent)
    , m_begin(std::move(begin))
    , m_pace([this] { ask(); }, kRereadMs)
{
    connect(&workspace.bridge(), &SessionBridge::eventsArrived, this,
            [this](const std::vector<session::Event>& events) {
                for (const session::Event& event : events)
                    if (std::holds_alternative<session::RoundDoneEvent>(event.what)
                        || std::holds_alternative<session::FinalsEvent>(event.what)) {
                        m_pace.ask();
                        return;
                    }
            });
    const TrialJobs& jobs = workspace.trialJobs();
    connect(&jobs, &TrialJobs::imported, this, &Rereading::ask);
    connect(&jobs, &TrialJobs::importFailed, this, &Rereading::ask); // what was taken before is kept
    connect(&jobs, &TrialJobs::ended, this, &Rereading::ask);
}

void Rereading::ask()
{
    m_wanted = true;
    resume();
}

void Rereading::resume()
{
    if (!m_wanted || m_isReading || !m_begin())
        return;
    m_wanted = false;
    m_isReading = true;
    m_pace.called();
}

void Rereading::ended()
{
    m_isReading = false;
    if (m_wanted)
        m_pace.ask();
}

void Rereading::dropped()
{
    m_isReading = false;
}

} // namespace lathe::ui
