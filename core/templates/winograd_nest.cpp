#include "core/templates/winograd_nest.h"

#include "core/search/lathe/access.h"
#include "core/search/lathe/nests.h"
#include "core/support/message.h"

namespace lathe::templates {

using search::Nest;
using search::NestKind;

Result<WinogradNest> matchWinograd(const search::SearchAlternative& alternative)
{
    const compute::Analysis analysis(alternative.dag);
    const compute::Dag& dag = *alternative.dag;
    const search::NestPlan plan = search::planNests(analysis);
    const std::vector<Nest>& nests = plan.nests; // the last operation first
    const bool isWinograd = nests.size() == 4 && nests[0].kind == NestKind::Map && nests[1].kind == NestKind::Transform
                            && nests[2].kind == NestKind::Tile && nests[3].kind == NestKind::Transform
                            && nests[1].gather < 0 && nests[2].owner == nests[2].anchor && nests[2].border < 0;
    if (!isWinograd)
        return makeError(Errc::Unsupported, say(Msg::NotWinograd));
    WinogradNest found;
    found.output = nests[0].owner;
    found.inverse = {nests[1].owner, nests[1].rows, -1};
    found.product = nests[2].owner;
    found.data = {nests[3].owner, nests[3].rows, nests[3].gather};
    std::int32_t image = -1;
    for (auto op = static_cast<std::int32_t>(dag.ops.size()) - 1; op >= 0; --op) {
        const std::string& tag = dag.ops[static_cast<std::size_t>(op)].tag;
        if (tag == "conv2d_winograd_nhwc" || tag == "conv2d_winograd_nchw") {
            image = op;
            if (tag == "conv2d_winograd_nhwc")
                found.outputDims = {0, 3, 1, 2};
        }
        if (plan.roles[static_cast<std::size_t>(op)] == search::Role::Inline)
            found.inlined.push_back(op);
    }
    if (image < 0 || (image != found.output && !analysis.elementwiseMatch(image, found.output)))
        return makeError(Errc::Unsupported, say(Msg::NotWinograd));

    const compute::Op& product = dag.ops[static_cast<std::size_t>(found.product)];
    const compute::Op& inverse = dag.ops[static_cast<std::size_t>(found.inverse.op)];
    if (product.shape.size() != 4 || product.reduceExtents.size() != 1 || inverse.shape.size() != 4)
        return makeError(Errc::Unsupported, say(Msg::NotWinograd));
    found.alpha = product.shape[0];
    found.tiles = product.shape[2];
    found.outChannels = product.shape[3];
    found.inChannels = product.reduceExtents[0];
    found.m = inverse.shape[0];
    for (const search::Operand& operand : search::operandsOf(dag, found.product))
        if (operand.producer != found.data.op)
            found.weight = operand.producer;
    if (found.weight < 0)
        return makeError(Errc::Unsupported, say(Msg::NotWinograd));
    for (std::size_t i = 0; i < dag.inputs.size(); ++i)
        if (dag.inputs[i] == found.weight && i < alternative.constantInputs.size())
            found.weightIsConstant = alternative.constantInputs[i];
    return found;
}

} // namespace lathe::templates
