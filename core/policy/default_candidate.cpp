#include "core/policy/default_candidate.h"

#include "core/policy/policy_table.h"

namespace lathe::policy {

Result<Candidate> defaultCandidate(const search::SearchTask& task)
{
    for (const PolicyPtr& entry : policies()) {
        if (!entry->guess || !entry->missing.empty() || (entry->suits && !entry->suits(task.target)))
            continue;
        auto guess = entry->guess(task);
        if (guess || guess.error().code != Errc::Unsupported)
            return guess;
    }
    return plainLoops(task);
}

Candidate plainLoops(const search::SearchTask& task)
{
    Candidate plain;
    plain.task = task.key;
    plain.alternative = task.alternatives.front().name;
    plain.kind = "steps";
    plain.steps = "[]";
    return plain;
}

} // namespace lathe::policy
