// Losses: sums of picked logarithms, as evaluation networks end in.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

namespace lathe::frontend::onnx_detail {
namespace {

struct LossOptions
{
    std::string reduction;
    std::optional<std::int64_t> ignored; ///< the class that does not count
    ValueId weights; ///< invalid: all 1
};

Result<LossOptions> optionsOf(Builder& b, NodeReader& node)
{
    LossOptions o;
    LATHE_TRY_ASSIGN(o.reduction, node.text("reduction", "mean"));
    if (o.reduction != "mean" && o.reduction != "sum" && o.reduction != "none")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "reduction", o.reduction.substr(0, 40)));
    if (node.has("ignore_index")) {
        LATHE_TRY_ASSIGN(o.ignored, node.integer("ignore_index", 0));
    }
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(o.weights, b.input(node, 2));
    }
    return o;
}

/// -weight[class] * logs[class] at each place; logs [N, C, ...], classes [N, ...].
ValueId negativeLikelihood(Composer& c, ValueId logs, ValueId classes, const LossOptions& o)
{
    if (c.rank(logs) < 2 || c.rank(classes) != c.rank(logs) - 1)
        return c.bad(fmt::format("classes of {} dimensions for scores of {}", c.rank(classes), c.rank(logs)));
    ValueId counted;
    if (o.ignored) {
        counted = c.op("not_equal", {classes, c.like(classes, static_cast<double>(*o.ignored))});
        classes = c.where(counted, classes, c.like(classes, 0)); // any class that exists
    }
    Ints column = c.shape(classes);
    const Ints places = column;
    column.insert(column.begin() + 1, 1);
    const ValueId picked = c.op("gather_elements", {logs, c.reshape(classes, column)}, {{"axis", std::int64_t{1}}});
    ValueId loss = c.op("negative", {c.reshape(picked, places)});
    ValueId weight;
    if (o.weights.valid())
        weight = c.op("take", {o.weights, classes}, {{"axis", std::int64_t{0}}});
    if (weight.valid())
        loss = c.mul(loss, weight);
    if (counted.valid()) { // what does not count is 0, whatever stands there
        loss = c.where(counted, loss, c.like(loss, 0));
        weight = weight.valid() ? c.where(counted, weight, c.like(weight, 0)) : c.cast(counted, c.dtype(loss));
    }
    if (o.reduction == "none")
        return loss;
    const ValueId sum = c.reduce("sum", loss, {}, false);
    if (o.reduction == "sum")
        return sum;
    return weight.valid() ? c.div(sum, c.reduce("sum", weight, {}, false)) : c.reduce("mean", loss, {}, false);
}

Result<std::vector<ValueId>> convertNll(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId logs, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId classes, b.input(node, 1));
    LATHE_TRY_ASSIGN(const LossOptions options, optionsOf(b, node));
    Composer c(b);
    return c.finish({negativeLikelihood(c, logs, classes, options)});
}

Result<std::vector<ValueId>> convertCrossEntropy(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId scores, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId classes, b.input(node, 1));
    LATHE_TRY_ASSIGN(const LossOptions options, optionsOf(b, node));
    Composer c(b);
    const ValueId logs = c.op("log_softmax", {scores}, {{"axis", std::int64_t{1}}});
    const ValueId loss = negativeLikelihood(c, logs, classes, options);
    return c.finish({loss, logs});
}

} // namespace

std::span<const ConverterEntry> lossConverters()
{
    static constexpr ConverterEntry kTable[] = {{"NegativeLogLikelihoodLoss", convertNll},
                                                {"SoftmaxCrossEntropyLoss", convertCrossEntropy}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
