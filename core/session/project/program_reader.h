#pragma once

#include "core/session/report/comparison.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::session {

/// A form in which a record's program is read: "steps" (of the schedule, a line each), "loops" (the loop tree), "nest"
/// (what the generator gets), or a listing that the target's back end names, as for History::listing().
struct ProgramForm
{
    std::string name, title; ///< by which it is asked for; for people, in the field's words
};
/// Those of programs for these targets: what all have, then their back ends' listings, each name once.
std::vector<ProgramForm> programForms(std::span<const std::string> targets);

/// Programs of the records that standings chose, of any project, for comparing. The networks that it needs are read
/// once. One thread at a time, never the GUI's.
class ProgramReader
{
public:
    ProgramReader();
    ~ProgramReader();
    ProgramReader(const ProgramReader&) = delete;
    ProgramReader& operator=(const ProgramReader&) = delete;

    /// Of the best record of a task (by key), in a form by its name. Errors: InvalidArgument (no such form of programs
    /// for the standing's target), NotFound (no such task, no record), those of opening the model and of
    /// History::detail() and listing().
    Result<std::string> text(const Standing& standing, const std::string& task, const std::string& form);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::session
