// A history whose project is opened with the first question: whoever hands it to another thread does not wait for the
// disk.

#include "core/session/project/project_history.h"

#include <utility>

namespace lathe::session {

namespace {

class LateHistory final : public History
{
public:
    explicit LateHistory(HistorySource source)
        : m_source(std::move(source))
    {
    }

    std::unique_ptr<History> again() const override { return openHistory(m_source); }
    Result<std::vector<std::int64_t>> find(const TrialQuery& query, std::stop_token stop) override
    {
        return ask(&History::find, query, stop);
    }
    Result<std::vector<TrialRow>> rows(std::span<const std::int64_t> rows) override
    {
        return ask(&History::rows, rows);
    }
    Result<TrialDetail> detail(std::int64_t row) override { return ask(&History::detail, row); }
    Result<TrialPoints> points(const TrialQuery& query, TrialAxis x, TrialAxis y, std::stop_token stop) override
    {
        return ask(&History::points, query, x, y, stop);
    }
    Result<std::int64_t> rowOf(const std::string& trial) override { return ask(&History::rowOf, trial); }
    Result<std::string> projectNote() override { return ask(&History::projectNote); }
    Result<Listing> listing(std::int64_t row, const std::string& name) override
    {
        return ask(&History::listing, row, name);
    }
    Result<std::vector<FailureView>> failures(std::stop_token stop) override { return ask(&History::failures, stop); }
    Result<std::vector<RunView>> runs() override { return ask(&History::runs); }
    Result<std::vector<RoundView>> rounds(std::int64_t run) override { return ask(&History::rounds, run); }
    Result<std::vector<Check>> checks() override { return ask(&History::checks); }
    Result<std::vector<QualityView>> quality(std::int64_t run, std::int32_t fromRound, std::stop_token stop) override
    {
        return ask(&History::quality, run, fromRound, stop);
    }
    Result<TemplateHistory> templateTrials(std::int32_t task, std::stop_token stop) override
    {
        return ask(&History::templateTrials, task, stop);
    }
    Result<> write(std::span<const std::int64_t> rows, const std::filesystem::path& file, TrialFile format,
                   std::stop_token stop) override
    {
        return ask(&History::write, rows, file, format, stop);
    }

private:
    template<typename Answer, typename... Parameters, typename... Arguments>
    Answer ask(Answer (History::*question)(Parameters...), Arguments&&... arguments)
    {
        if (!m_history) {
            LATHE_TRY_ASSIGN(m_history, readProjectHistory(m_source));
        }
        return (*m_history.*question)(std::forward<Arguments>(arguments)...);
    }

    HistorySource m_source;
    std::unique_ptr<History> m_history; ///< null: nothing was asked yet
};

} // namespace

std::unique_ptr<History> openHistory(HistorySource source)
{
    return std::make_unique<LateHistory>(std::move(source));
}

} // namespace lathe::session
