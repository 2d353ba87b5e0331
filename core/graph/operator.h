#pragma once

#include "core/compute/dag.h"
#include "core/compute/name_era.h"
#include "core/graph/graph.h"
#include "core/graph/op_traits.h"

#include <functional>
#include <span>
#include <string_view>

namespace lathe::graph {

/// Fusion pattern kinds (model-zoo.md 8), in the order of their strength.
enum class Pattern : std::uint8_t
{
    Elementwise = 0,
    Broadcast = 1,
    Injective = 2,
    CommReduce = 3,
    OutElementwiseFusable = 4,
    Tuple = 7,
    Opaque = 8
};

struct TensorType
{
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    bool operator==(const TensorType&) const = default;
};

/// A dense row-major tensor of the interpreter.
struct HostTensor
{
    TensorType type;
    std::vector<std::byte> bytes;
    template<typename T>
    std::span<T> as()
    {
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    template<typename T>
    std::span<const T> as() const
    {
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    static HostTensor zeros(TensorType type);
};

struct ComputeContext
{
    compute::DagBuilder& builder;
    compute::NameEra era = compute::NameEra::Nested;
    /// Which algorithm of those that the operator offers: "direct", "winograd:2", "winograd:4" ... Empty: direct.
    std::string algorithm;
    std::span<const TensorType> outputTypes; ///< as inferred
    /// Winograd's transforms in two passes: half of the operations of the reference's single one, whose keys need that.
    bool splitTransforms = false;
};

/// How a node is computed by a function of the runtime (core/runtime/functions) instead of a kernel that is generated.
struct FunctionCall
{
    std::vector<std::string> phases; ///< symbols of the runtime archive: LathePhase, one behind the other
    /// The first argument, a constant I64 vector; the node's operands and results follow, dense and row-major.
    std::vector<std::int64_t> parameters;
    std::int64_t teamScratchBytes = 0;
    std::int64_t partScratchBytes = 0;
    std::int32_t overwrites = -1; ///< an operand in whose place the only result may be written; -1: none
};

/// All that Lathe knows of one operator. Adding an operator means one entry (in the table of its family's .cpp) and one
/// test: passes, partition and names ask its traits and never compare its name. What an importer reads and an exporter
/// writes is in their own tables.
struct OpDef
{
    std::string_view name;
    Pattern pattern = Pattern::Opaque;
    std::int32_t minInputs = 1;
    std::int32_t maxInputs = 1; ///< -1: any number
    /// Output types from the node and its input types. `constants[i]` is set where input i is a constant (shapes of
    /// Reshape, axes of Reduce ...). Errors: InvalidArgument naming the rule that is broken; the caller adds node and
    /// inputs.
    std::function<Result<std::vector<TensorType>>(const Node&, std::span<const TensorType> inputs,
                                                  std::span<const ConstData* const> constants)>
        inferTypes;
    /// Adds the operator's compute definition. Null: never part of a task, computed by `function` or removed by a pass.
    std::function<Result<compute::Tensor>(const Node&, std::span<const compute::Tensor> inputs, ComputeContext&)>
        compute;
    /// The reference executor's plain evaluation; shares no code with compute, schedule, lowering or plugins.
    /// Accumulates in double where the result is floating.
    std::function<Result<>(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)>
        evaluate;
    OpTraits traits = {};
    /// For operators that no loop nest computes in the time that they need: sorting, writing to computed places. Null:
    /// `compute` does it. Types are those of operands and results.
    std::function<Result<FunctionCall>(const Node&, std::span<const TensorType> inputs,
                                       std::span<const TensorType> outputs)>
        function = {};
};

/// Null if there is no such operator. Any thread.
const OpDef* findOperator(std::string_view name);
std::span<const OpDef* const> allOperators();

/// An operator beside those of the tables, as long as this lives: tests try new ones so. No other thread may use the
/// registry while it is made or goes. A name that is taken is a bug of the caller.
class AddedOperator
{
public:
    explicit AddedOperator(OpDef entry);
    ~AddedOperator();
    AddedOperator(const AddedOperator&) = delete;
    AddedOperator& operator=(const AddedOperator&) = delete;

private:
    const OpDef m_entry;
};

} // namespace lathe::graph
