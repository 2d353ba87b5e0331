#pragma once

#include "core/session/report/comparison.h"

#include <memory>
#include <stop_token>

namespace lathe::session {

/// A form in which a record's program is read.
enum class ProgramText : std::uint8_t
{
    Steps, ///< of the schedule, a line each
    Loops, ///< loop tree
    Nest, ///< what the generator gets
    LlvmIr,
    Assembly,
    Source ///< CUDA, OpenCL: where the target generates text
};
/// "steps", "loops", "nest", "ir", "assembly", "source". InvalidArgument.
Result<ProgramText> programTextFromString(std::string_view text);

/// Programs of the records that standings chose, of any project, for comparing. The networks that it needs are read
/// once. One thread at a time, never the GUI's.
class ProgramReader
{
public:
    ProgramReader();
    ~ProgramReader();
    ProgramReader(const ProgramReader&) = delete;
    ProgramReader& operator=(const ProgramReader&) = delete;

    /// Of the best record of a task (by key). Errors: NotFound (no such task, no record), those of opening the model
    /// and of History::detail() and listing().
    Result<std::string> text(const Standing& standing, const std::string& task, ProgramText what);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::session
