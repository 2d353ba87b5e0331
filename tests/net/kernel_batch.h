#pragma once

#include "core/compute/dag.h"
#include "core/graph/operator.h"
#include "core/schedule/state.h"
#include "core/search/search_task.h"
#include "tests/plugins/cpu/loaded_kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::net {

/// How a kernel was scheduled.
enum class Schedule : std::uint8_t
{
    Default, ///< as compile does without records
    Sampled, ///< a random candidate of the search
    Random ///< random steps, also those that no sketch has
};
const char* toString(Schedule schedule);

struct Scheduled
{
    schedule::State state;
    std::size_t alternative = 0; ///< of the task, that it is of
};

/// A task by that kind of schedule. Random ones are tried until one can be lowered. Errors: none could be; Unsupported:
/// the search has no sketch for the task.
Result<Scheduled> scheduled(const search::SearchTask& task, Schedule kind, std::uint64_t seed);

/// Many kernels that are compiled together, into one object, and run in this process.
class KernelBatch
{
public:
    explicit KernelBatch(std::string target)
        : m_target(std::move(target))
    {
    }

    /// `constantInputs` as LowerOptions has them. @return its number. Errors: those of lowering.
    Result<std::size_t> add(const schedule::State& state, const std::vector<bool>& constantInputs = {});
    std::size_t size() const { return m_kernels.size(); }
    /// All that were added, once. Errors: nothing could be compiled. What single kernels failed with: status().
    Result<> build();
    const Result<>& status(std::size_t kernel) const { return m_status[kernel]; }

    /// `inputs` in the order of Dag::inputs. Memory ends at pages that cannot be touched. Errors: a write behind the
    /// end of an output, a code other than 0.
    Result<std::vector<graph::HostTensor>> run(std::size_t kernel, const std::vector<const graph::HostTensor*>& inputs,
                                               unsigned parts) const;

private:
    std::string m_target;
    std::vector<schedule::LoweredKernel> m_kernels;
    std::vector<Result<>> m_status;
    std::vector<std::size_t> m_places; ///< in the object, of those that could be built
    std::vector<test::LoadedKernels> m_loaded; ///< one, once it is built
};

} // namespace lathe::net
