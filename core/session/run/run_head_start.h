#pragma once

#include "core/session/run/run_parts.h"
#include "core/support/message.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::search {
struct HeadStart;
struct HeadStartUse;
} // namespace lathe::search

namespace lathe::session {

/// The head start that a run begins with: found, given to its policies and cost model, kept so that the run can go on.
class RunHeadStart
{
public:
    /// Of a run that begins: finds, reads and gives what the options name. From then on they name what was taken.
    /// Errors: of a file that was asked for; an installed one that is of no use is told in note().
    Result<> take(RunParts& parts, TuneOptions& options, std::stop_token stop);
    /// Of a run that goes on: the same bytes, from the project or their file. Incompatible: they are not there any
    /// more.
    Result<> takeAgain(RunParts& parts, const store::SessionRow& resumed, std::stop_token stop);
    /// In the project, so that the run can go on whatever becomes of the file.
    Result<> keep(RunJournal& journal) const;

    const std::string& hash() const { return m_hash; } ///< of the bytes; empty: there is none
    const std::optional<Message>& note() const { return m_note; }

private:
    std::string m_bytes, m_hash;
    std::optional<Message> m_note;
};

} // namespace lathe::session
