#include "core/deploy/in_place.h"

#include "core/compute/walk.h"
#include "core/schedule/step.h"

#include <nlohmann/json.hpp>

namespace lathe::deploy {

namespace {

bool isIdentity(const compute::Op& reader, const std::vector<ir::Expr>& indices)
{
    if (indices.size() != reader.axes.size())
        return false;
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (!indices[d].same(reader.axes[d]))
            return false;
    return true;
}

} // namespace

std::vector<bool> overwritableInputs(const compute::Dag& dag)
{
    std::vector<bool> result(dag.inputs.size(), false);
    if (dag.outputs.size() != 1)
        return result;
    const auto& shape = dag.ops[static_cast<std::size_t>(dag.outputs[0])].shape;
    const DType dtype = dag.ops[static_cast<std::size_t>(dag.outputs[0])].dtype;
    // aligned[i]: every way from the output to operation i goes by identity reads of the output's shape. Producers
    // stand before consumers, so a walk from the back sees all readers of an operation before the operation.
    std::vector<bool> aligned(dag.ops.size(), true);
    for (std::size_t i = dag.ops.size(); i > 0; --i) {
        const compute::Op& op = dag.ops[i - 1];
        if (op.shape != shape)
            aligned[i - 1] = false;
        for (const ir::Expr& body : op.bodies)
            compute::postOrder(body, [&](const ir::Expr& e) {
                if (e->kind != ir::ExprKind::Load)
                    return;
                const auto source = static_cast<std::size_t>(e->source);
                if (!aligned[i - 1] || !isIdentity(op, e->operands) || op.bodies.size() != 1)
                    aligned[source] = false;
            });
    }
    for (std::size_t k = 0; k < dag.inputs.size(); ++k) {
        const auto input = static_cast<std::size_t>(dag.inputs[k]);
        result[k] = aligned[input] && dag.ops[input].dtype == dtype;
    }
    return result;
}

bool recomputes(const std::string& steps)
{
    const Result<std::vector<schedule::Step>> parsed = schedule::stepsFromJson(
        nlohmann::json::parse(steps, nullptr, false));
    return !parsed || schedule::storesTwice(*parsed);
}

} // namespace lathe::deploy
