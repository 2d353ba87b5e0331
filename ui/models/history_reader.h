#pragma once

#include "core/session/history.h"

#include <QObject>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <stop_token>

namespace lathe::ui {

/// Asks a project's history on a thread of its own, one question after the other, and brings the answers to the GUI thread.
/// Lives on the GUI thread. Answers to questions that were stopped, or asked before the history was exchanged, are dropped.
class HistoryReader final : public QObject
{
    Q_OBJECT

public:
    explicit HistoryReader(QObject* parent = nullptr);
    ~HistoryReader() override;

    /// Null: questions are not answered.
    void setHistory(std::unique_ptr<session::History> history);
    bool isOpen() const { return m_history != nullptr; }

    /// `job` runs on the thread: T job(session::History&, std::stop_token). `then` gets what it returned, here.
    template<typename Job, typename Then>
    std::stop_source ask(Job job, Then then)
    {
        std::stop_source stop;
        if (!m_history)
            return stop;
        post([this, history = m_history, all = m_all.get_token(), stop, job = std::move(job), then = std::move(then)]() mutable {
            if (all.stop_requested())
                stop.request_stop();
            if (stop.stop_requested())
                return;
            const std::stop_callback forward(all, [&stop] { stop.request_stop(); });
            auto answer = std::make_shared<decltype(job(*history, stop.get_token()))>(job(*history, stop.get_token()));
            QMetaObject::invokeMethod(this, [stop, answer, then = std::move(then)]() mutable {
                if (!stop.stop_requested())
                    then(std::move(*answer));
            }, Qt::QueuedConnection);
        });
        return stop;
    }

private:
    void post(std::function<void()> work);
    QThreadPool m_pool; ///< of one thread
    std::shared_ptr<session::History> m_history; ///< used on that thread alone
    std::stop_source m_all;
};

} // namespace lathe::ui
