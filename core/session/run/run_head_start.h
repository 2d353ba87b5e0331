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
    /// For a run that begins: finds and reads the head start that the options name, and gives it to the policies and
    /// the cost model. Afterwards the options name the one that was taken. Errors: those of a file that was asked for;
    /// an installed head start that is of no use is only mentioned in note().
    Result<> take(RunParts& parts, TuneOptions& options, std::stop_token stop);
    /// For a run that is continued: takes the same bytes, from the project or from their file. Incompatible: they are
    /// no longer there.
    Result<> takeAgain(RunParts& parts, const store::SessionRow& resumed, std::stop_token stop);
    /// Stores it in the project, so that the run can be continued whatever becomes of the file.
    Result<> keep(RunJournal& journal) const;

    const std::string& hash() const { return m_hash; } ///< of the bytes; empty: there is none
    const std::optional<Message>& note() const { return m_note; }

private:
    std::string m_bytes, m_hash;
    std::optional<Message> m_note;
};

} // namespace lathe::session
