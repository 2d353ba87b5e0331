#pragma once

#include "tests/support/search/race.h"

#include <filesystem>
#include <map>

namespace lathe::test {

/// Trials of one task on a real device, written down: a search that is replayed on them may propose these alone.
///
/// File: a line of JSON (case, target, hardware, device, and the sketches with the values of their parameters), then a
/// line per trial: sketch, a gene per parameter, then the nanoseconds of each repeat; "-" in their place for a failed
/// trial. A trial's cost is the least of its repeats, since other load only ever adds. Genes are found again by
/// parameter name and value, so that a table outlives new values and new parameters.
class RecordedTable final : public CostSource
{
public:
    /// Errors: NotFound, BadFile with the line; Incompatible where sketches of today cannot express most of its trials.
    static Result<std::unique_ptr<RecordedTable>> load(const std::filesystem::path& file);

    const search::SearchTask& task() const { return m_task; }
    std::size_t recorded() const { return m_recorded; } ///< in the file
    double nanoseconds(const Candidate& candidate) override;
    std::shared_ptr<const std::vector<Candidate>> pool() const override { return m_pool; }

private:
    search::SearchTask m_task;
    std::size_t m_recorded = 0;
    std::shared_ptr<const std::vector<Candidate>> m_pool;
    std::map<std::pair<std::string, std::vector<std::int32_t>>, double> m_costs;
};

/// Writes such a file. Results are those of `trials`, in order.
Result<> writeTable(const std::filesystem::path& file, const search::SearchTask& task, const std::string& device,
                    const std::vector<search::Measured>& trials);

} // namespace lathe::test
