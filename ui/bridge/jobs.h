#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace lathe::ui {

/// The link from a piece of work on a thread to whoever asked for it.
class JobLink
{
public:
    /// Says so when the work is to end soon.
    std::stop_token stopToken() const;
    /// Runs `say` on the GUI thread, before the answer is handed over; not if the job is dropped by then. Any thread.
    void tell(std::function<void()> say) const;

private:
    friend class Job;
    friend class JobLane;
    struct State;
    explicit JobLink(std::shared_ptr<State> state)
        : m_state(std::move(state))
    {
    }
    std::shared_ptr<State> m_state;
};

/// A handle to a piece of work on a thread, for whoever asked for it. Copies refer to the same work; a
/// default-constructed one counts as ended. Destroying the handle changes nothing. GUI thread.
class Job
{
public:
    Job() = default;
    /// Asks the work to end soon. Its answer still comes, and tells what was done so far.
    void stop();
    /// As stop(), but nothing is heard of it any more; where it has not begun, it never does (JobLane::Work).
    void drop();
    /// Until its answer is handed over, or it is dropped.
    bool isRunning() const;

private:
    friend class JobLane;
    explicit Job(std::shared_ptr<JobLink::State> state)
        : m_state(std::move(state))
    {
    }
    std::shared_ptr<JobLink::State> m_state;
};

/// The window's one way to do what blocks: work runs on a thread, its answer comes to the GUI thread. Owned by who gets
/// the answers: when the lane goes, its jobs are dropped, and nobody waits for them. Work therefore holds what it uses,
/// by value or shared; it touches its owner only in what it tells, and in what is done with the answer. GUI thread.
///
///     m_read = m_jobs.run([project](const JobLink& link) { return session::standing(project); },
///                         [this](Result<session::Standing> standing) { show(standing); });
class JobLane
{
public:
    enum class Width
    {
        OneByOne, ///< in the order in which they were asked for
        AllAtOnce
    };
    enum class Work
    {
        MayBeDropped,
        IsAlwaysDone ///< for writing and closing: a dropped job is done all the same, only its answer is lost
    };

    explicit JobLane(Width width = Width::OneByOne, Work work = Work::MayBeDropped);
    ~JobLane();
    JobLane(const JobLane&) = delete;
    JobLane& operator=(const JobLane&) = delete;

    /// `work` runs on a thread: T work(const JobLink&), T no void. `then` gets what it returned, on the GUI thread, in
    /// a turn of its event loop, unless the job was dropped before.
    template<typename WorkFunction, typename Then>
    Job run(WorkFunction work, Then then)
    {
        using Answer = std::invoke_result_t<WorkFunction&, const JobLink&>;
        return post(
            [work = std::move(work), then = std::move(then)](const JobLink& link) mutable -> std::function<void()> {
                auto answer = std::make_shared<Answer>(work(link));
                return [answer = std::move(answer), then = std::move(then)]() mutable { then(std::move(*answer)); };
            });
    }

    /// As Job::stop() and drop(), for all that wait or run.
    void stopAll();
    void dropAll();
    /// Some job waits or runs.
    bool isBusy() const;
    /// Blocks until no job of any lane is at work: for the end of the program's parts that jobs use.
    static void waitForAll();

private:
    using Posted = std::function<std::function<void()>(const JobLink&)>;
    struct State;
    Job post(Posted work);
    static void drain(const std::shared_ptr<State>& lane);
    std::shared_ptr<State> m_state;
};

} // namespace lathe::ui
