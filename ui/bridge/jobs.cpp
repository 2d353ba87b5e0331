#include "ui/bridge/jobs.h"

#include <QCoreApplication>
#include <QThread>
#include <QThreadPool>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

// Every lane is a queue, and all lanes share one pool of threads: a lane that has work occupies one of them until its
// queue is empty. Nothing that runs there points to who asked. What it has to say is posted to the application, which
// outlives all jobs (it waits for the pool when it ends), and is looked at on the GUI thread: whether the job was
// dropped is decided there alone, so that no answer can reach an owner that is gone.

namespace lathe::ui {

namespace {

/// Jobs wait for disks, processes and devices rather than for a core, and a long one must not hold up others.
constexpr int kMostThreads = 64;

QThreadPool& jobThreads()
{
    QThreadPool* const shared = QThreadPool::globalInstance();
    if (shared->maxThreadCount() < kMostThreads)
        shared->setMaxThreadCount(kMostThreads);
    return *shared;
}

bool isOnGuiThread()
{
    return QCoreApplication::instance() != nullptr
           && QThread::currentThread() == QCoreApplication::instance()->thread();
}

} // namespace

struct JobLink::State
{
    std::stop_source stop;
    std::atomic<bool> dropped = false; ///< set on the GUI thread
    bool done = false; ///< GUI thread
    bool isAlwaysDone = false;
};

struct JobLane::State
{
    struct Item
    {
        std::shared_ptr<JobLink::State> job;
        Posted work;
    };
    Width width;
    Work work;
    std::mutex mutex;
    std::deque<Item> waiting;
    bool draining = false; ///< some thread takes from the queue: at most one, where jobs run one by one
    std::vector<std::weak_ptr<JobLink::State>> jobs; ///< GUI thread
};

std::stop_token JobLink::stopToken() const
{
    return m_state->stop.get_token();
}

void JobLink::tell(std::function<void()> say) const
{
    QCoreApplication* const app = QCoreApplication::instance();
    if (app == nullptr || m_state->dropped)
        return;
    QMetaObject::invokeMethod(
        app,
        [state = m_state, say = std::move(say)] {
            if (!state->dropped)
                say();
        },
        Qt::QueuedConnection);
}

void Job::stop()
{
    if (m_state != nullptr)
        m_state->stop.request_stop();
}

void Job::drop()
{
    if (m_state == nullptr)
        return;
    m_state->dropped = true;
    if (!m_state->isAlwaysDone)
        m_state->stop.request_stop();
}

bool Job::isRunning() const
{
    return m_state != nullptr && !m_state->done && !m_state->dropped;
}

JobLane::JobLane(Width width, Work work)
    : m_state(std::make_shared<State>())
{
    m_state->width = width;
    m_state->work = work;
}

JobLane::~JobLane()
{
    dropAll();
}

void JobLane::stopAll()
{
    for (const std::weak_ptr<JobLink::State>& job : m_state->jobs)
        Job(job.lock()).stop();
}

bool JobLane::isBusy() const
{
    return std::any_of(m_state->jobs.begin(), m_state->jobs.end(),
                       [](const auto& job) { return Job(job.lock()).isRunning(); });
}

void JobLane::dropAll()
{
    for (const std::weak_ptr<JobLink::State>& job : m_state->jobs)
        Job(job.lock()).drop();
    m_state->jobs.clear();
}

void JobLane::waitForAll()
{
    jobThreads().waitForDone();
}

Job JobLane::post(Posted work)
{
    Q_ASSERT(isOnGuiThread());
    auto job = std::make_shared<JobLink::State>();
    job->isAlwaysDone = m_state->work == Work::IsAlwaysDone;
    std::erase_if(m_state->jobs, [](const std::weak_ptr<JobLink::State>& known) { return known.expired(); });
    m_state->jobs.push_back(job);
    {
        const std::scoped_lock lock(m_state->mutex);
        m_state->waiting.push_back({job, std::move(work)});
        if (m_state->width == Width::OneByOne && std::exchange(m_state->draining, true))
            return Job(job);
    }
    jobThreads().start([lane = m_state] { drain(lane); });
    return Job(job);
}

/// On a thread: one job after the other; where they may run all at once, one.
void JobLane::drain(const std::shared_ptr<State>& lane)
{
    const bool all = lane->width == Width::OneByOne;
    do {
        State::Item item;
        {
            const std::scoped_lock lock(lane->mutex);
            if (lane->waiting.empty()) {
                lane->draining = false;
                return;
            }
            item = std::move(lane->waiting.front());
            lane->waiting.pop_front();
        }
        if (item.job->dropped && !item.job->isAlwaysDone)
            continue;
        const JobLink link(item.job);
        link.tell([job = item.job, hand = item.work(link)] {
            job->done = true;
            hand();
        });
    } while (all);
}

} // namespace lathe::ui
