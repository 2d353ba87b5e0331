#pragma once

#include "core/session/history.h"
#include "ui/bridge/jobs.h"

#include <QObject>

#include <memory>
#include <stop_token>
#include <utility>

namespace lathe::ui {

/// Asks a project's history on a thread, one question after the other, and brings the answers to the GUI thread.
/// Answers to questions that were dropped, or asked before the history was exchanged, are not heard.
class HistoryReader final : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Null: questions are not answered.
    void setHistory(std::unique_ptr<session::History> history);
    bool isOpen() const { return m_history != nullptr; }

    /// `question` runs on the thread: T question(session::History&, std::stop_token). `then` gets what it returned,
    /// here.
    template<typename Question, typename Then>
    Job ask(Question question, Then then)
    {
        if (!m_history)
            return {};
        return m_jobs.run([history = m_history, question = std::move(question)](
                              const JobLink& link) mutable { return question(*history, link.stopToken()); },
                          std::move(then));
    }

private:
    std::shared_ptr<session::History> m_history; ///< used by one job at a time
    JobLane m_jobs;
};

} // namespace lathe::ui
