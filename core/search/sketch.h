#pragma once

#include "core/compute/dag.h"
#include "core/schedule/step.h"
#include "core/search/factor_tuples.h"
#include "core/support/hash.h"
#include "core/support/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lathe::search {

using Genome = std::vector<std::int32_t>;

/// One open choice of a sketch. The gene is an index in [0, count).
struct Parameter
{
    enum class Kind : std::uint8_t
    {
        Tile, ///< ordered divisor tuple: the lengths of a split
        Choice, ///< one of `values`
        Decision ///< of a rule whose number of options depends on genes before it; `count` is an upper bound
    };
    std::string name; ///< "tile conv2d.ff", "unroll conv2d", "vectors"
    Kind kind = Kind::Choice;
    std::int32_t count = 1;
    std::shared_ptr<const FactorTuples> tuples; ///< Tile
    std::vector<std::int64_t> values; ///< Choice
};

/// A schedule whose tile sizes and annotations are open. Immutable; shared between threads.
class Sketch
{
public:
    virtual ~Sketch() = default;

    /// Policy, version, alternative and kind: "lathe-cpu/1:direct:tile". Unique within a task.
    const std::string& name() const { return m_name; }
    const compute::DagPtr& dag() const { return m_dag; }
    const std::string& alternative() const { return m_alternative; }
    const std::vector<Parameter>& parameters() const { return m_parameters; }

    /// The complete schedule. Errors: InvalidArgument (length or range of the genome), IllegalSchedule (choices that do
    /// not go together or break a limit of the hardware).
    virtual Result<std::vector<schedule::Step>> instantiate(const Genome& genome) const = 0;

    /// Identity of (sketch, genome), equal on all machines. Genomes of one identity make one program.
    Hash128 identity(const Genome& genome) const;
    /// The canonical genome: the least of those known to make the same program as `genome`, which must be legal.
    virtual Genome settled(Genome genome) const { return genome; }

    /// The value that a gene stands for, for people: "14x2" of a tile, "512" of a choice.
    std::string describe(std::size_t parameter, std::int32_t gene) const;

protected:
    Sketch(std::string name, std::string alternative, compute::DagPtr dag)
        : m_name(std::move(name))
        , m_alternative(std::move(alternative))
        , m_dag(std::move(dag))
    {
    }
    /// Length and ranges.
    Result<> check(const Genome& genome) const;

    std::vector<Parameter> m_parameters;

private:
    std::string m_name, m_alternative;
    compute::DagPtr m_dag;
};

using SketchPtr = std::shared_ptr<const Sketch>;

} // namespace lathe::search
