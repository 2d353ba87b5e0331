#include "core/templates/matched_nest.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"
#include "core/search/lathe/access.h"
#include "core/search/lathe/nests.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::templates {
namespace {

using compute::Op;
using search::LinearIndex;
using search::Operand;
using search::Role;

Error unsupported(std::string what)
{
    return makeError(Errc::Unsupported, std::move(what));
}

/// Of an index that is one axis, or an axis times a stride plus another times a dilation.
struct Term
{
    std::int32_t spatial = -1, reduce = -1; ///< -1: it does not depend on one
    std::int64_t stride = 1, dilation = 1;
};

/// Nothing: it is no such index.
std::optional<Term> termOf(const LinearIndex& index)
{
    if (index.complex)
        return std::nullopt;
    Term term;
    for (std::size_t a = 0; a < index.spatial.size(); ++a) {
        if (index.spatial[a] == 0)
            continue;
        if (term.spatial >= 0)
            return std::nullopt;
        term.spatial = static_cast<std::int32_t>(a);
        term.stride = index.spatial[a];
    }
    for (std::size_t a = 0; a < index.reduce.size(); ++a) {
        if (index.reduce[a] == 0)
            continue;
        if (term.reduce >= 0)
            return std::nullopt;
        term.reduce = static_cast<std::int32_t>(a);
        term.dilation = index.reduce[a];
    }
    if (term.stride < 1 || term.dilation < 1)
        return std::nullopt;
    return term;
}

class Matcher
{
public:
    explicit Matcher(const search::SearchAlternative& alternative)
        : m_alternative(alternative)
        , m_analysis(alternative.dag)
        , m_dag(*alternative.dag)
    {
    }

    Result<MatchedNest> run()
    {
        const search::NestPlan plan = search::planNests(m_analysis);
        if (plan.nests.size() != 1 || plan.nests.front().kind != search::NestKind::Tile)
            return unsupported("it is not one convolution or dense operator with elementwise operators behind it");
        const search::Nest& nest = plan.nests.front();
        m_nest.anchor = nest.anchor;
        m_nest.owner = nest.owner;
        m_nest.border = nest.border;
        for (auto op = static_cast<std::int32_t>(m_dag.ops.size()) - 1; op >= 0; --op)
            if (plan.roles[static_cast<std::size_t>(op)] == Role::Inline)
                m_nest.inlined.push_back(op);
        const Op& anchor = op(nest.anchor);
        m_rank = static_cast<std::int32_t>(anchor.shape.size());
        m_nest.loops = m_rank + static_cast<std::int32_t>(anchor.reduceAxes.size());
        m_operands = search::operandsOf(m_dag, nest.anchor);
        if (!isSumOfProducts(anchor) || m_operands.size() != 2)
            return unsupported("its reduction is no sum of products of two tensors");
        if (m_rank == 4)
            LATHE_TRY(matchConv(anchor));
        else if (m_rank == 2)
            LATHE_TRY(matchDense(anchor));
        else
            return unsupported(fmt::format("its result has {} dimensions", m_rank));
        findWeight();
        if (m_rank == 4) {
            LATHE_TRY(findPadding(m_operands[0].producer));
            findResiduals();
        }
        return std::move(m_nest);
    }

private:
    const Op& op(std::int32_t i) const { return m_dag.ops[static_cast<std::size_t>(i)]; }
    bool isPlaceholder(std::int32_t i) const { return op(i).kind == compute::OpKind::Placeholder; }

    static bool isSumOfProducts(const Op& op)
    {
        if (op.bodies.size() != 1 || op.bodies.front()->kind != ir::ExprKind::Reduce
            || op.bodies.front()->combiner != ir::Combiner::Sum)
            return false;
        ir::Expr source = op.bodies.front()->operands.front();
        while (source->kind == ir::ExprKind::Cast)
            source = source->operands.front();
        const auto isLoad = [](ir::Expr e) {
            while (e->kind == ir::ExprKind::Cast)
                e = e->operands.front();
            return e->kind == ir::ExprKind::Load;
        };
        return source->kind == ir::ExprKind::Mul && isLoad(source->operands[0]) && isLoad(source->operands[1]);
    }

    Result<> matchConv(const Op& anchor)
    {
        const Operand& data = m_operands[0];
        const Operand& weight = m_operands[1];
        if (data.indices.size() != 4 || weight.indices.size() != 4)
            return unsupported("its operands have not four dimensions each");
        ConvArgs args;
        std::array<std::int64_t, 2> kernel = {1, 1};
        std::array<std::int32_t, 4> dims = {-1, -1, -1, -1};
        int windows = 0;
        for (std::size_t d = 0; d < 4; ++d) {
            const std::optional<Term> term = termOf(data.indices[d]);
            if (!term)
                return unsupported("its data are read in groups");
            const auto dim = static_cast<std::int32_t>(d);
            const bool inWeight = term->spatial >= 0 && weight.usesSpatial(static_cast<std::size_t>(term->spatial));
            if (term->spatial < 0 && term->reduce >= 0 && dims[1] < 0) {
                dims[1] = dim; // the input's channel
                m_nest.reduce[0] = m_rank + term->reduce;
            } else if (inWeight && term->reduce < 0 && term->stride == 1 && dims[1] < 0) {
                dims[1] = dim;
                m_nest.spatial[1] = term->spatial;
                args.depthwise = true;
            } else if (term->spatial >= 0 && term->reduce < 0 && term->stride == 1 && dims[0] < 0) {
                dims[0] = dim;
                m_nest.spatial[0] = term->spatial;
            } else if (term->spatial >= 0 && !inWeight && term->reduce >= 0 && windows < 2) {
                const auto w = static_cast<std::size_t>(windows++);
                dims[w + 2] = dim;
                m_nest.spatial[w + 2] = term->spatial;
                m_nest.reduce[w + 1] = m_rank + term->reduce;
                args.strides[w] = term->stride;
                args.dilation[w] = term->dilation;
                kernel[w] = anchor.reduceExtents[static_cast<std::size_t>(term->reduce)];
            } else {
                return unsupported("its data are not read as a convolution reads them");
            }
        }
        if (windows != 2 || dims[0] < 0 || dims[1] < 0)
            return unsupported("its data are not read as a convolution reads them");
        LATHE_TRY(matchKernel(weight, args.depthwise));
        for (std::int32_t a = 0; a < 4; ++a)
            if (std::find(m_nest.spatial.begin(), m_nest.spatial.end(), a) == m_nest.spatial.end())
                return unsupported("its result has a dimension that no operand has");
        const auto size = [](const std::vector<std::int64_t>& shape, std::int32_t d) {
            return shape[static_cast<std::size_t>(d)];
        };
        args.batch = size(data.shape, dims[0]);
        args.inChannels = size(data.shape, dims[1]);
        args.outChannels = size(anchor.shape, m_nest.spatial[1]);
        args.height = size(data.shape, dims[2]); // padded, until findPadding()
        args.width = size(data.shape, dims[3]);
        args.kernelHeight = kernel[0];
        args.kernelWidth = kernel[1];
        args.outDtype = toString(op(m_nest.anchor).dtype);
        m_nest.padded = {data.producer, dims};
        m_nest.output = {m_nest.owner, m_nest.spatial};
        m_nest.args = std::move(args);
        return {};
    }

    /// Which dimension of the kernel is what: all its indices are axes by themselves.
    Result<> matchKernel(const Operand& weight, bool depthwise)
    {
        for (std::size_t d = 0; d < 4; ++d) {
            const std::int32_t axis = weight.indices[d].plainAxis();
            const auto dim = static_cast<std::int32_t>(d);
            if (axis >= 0 && axis < m_rank && (axis == m_nest.spatial[1] || m_nest.spatial[1] < 0)) {
                m_nest.spatial[1] = axis;
                m_nest.weightDims[0] = dim;
            } else if (axis >= 0 && axis == m_nest.reduce[0]) {
                m_nest.weightDims[1] = dim;
            } else if (axis >= 0 && axis == m_nest.reduce[1]) {
                m_nest.weightDims[2] = dim;
            } else if (axis >= 0 && axis == m_nest.reduce[2]) {
                m_nest.weightDims[3] = dim;
            } else if (!depthwise || weight.shape[d] != 1) {
                return unsupported("its kernel is not read as a convolution reads it");
            }
        }
        const bool complete = m_nest.weightDims[0] >= 0 && (depthwise || m_nest.weightDims[1] >= 0)
                              && m_nest.weightDims[2] >= 0 && m_nest.weightDims[3] >= 0;
        return complete ? Result<>() : Result<>(unsupported("its kernel has not all dimensions of a convolution's"));
    }

    Result<> matchDense(const Op& anchor)
    {
        const Operand& data = m_operands[0];
        const Operand& weight = m_operands[1];
        if (data.indices.size() != 2 || weight.indices.size() != 2 || anchor.reduceAxes.size() != 1)
            return unsupported("its operands are no two matrices");
        if (data.indices[0].plainAxis() != 0 || data.indices[1].plainAxis() != m_rank
            || weight.indices[0].plainAxis() != 1 || weight.indices[1].plainAxis() != m_rank)
            return unsupported("its matrices are not read as a dense operator reads them: rows by rows");
        DenseArgs args;
        args.m = anchor.shape[0];
        args.n = anchor.shape[1];
        args.k = anchor.reduceExtents[0];
        args.dtype = toString(op(data.producer).dtype);
        args.outDtype = toString(anchor.dtype);
        m_nest.spatial = {0, -1, -1, 1};
        m_nest.reduce = {2, -1, -1};
        m_nest.weightDims = {0, 1, -1, -1};
        m_nest.args = std::move(args);
        return {};
    }

    void findWeight()
    {
        const std::int32_t weight = m_operands[1].producer;
        if (!isPlaceholder(weight))
            return;
        m_nest.weight = weight;
        for (std::size_t i = 0; i < m_dag.inputs.size(); ++i)
            if (m_dag.inputs[i] == weight && i < m_alternative.constantInputs.size())
                m_nest.weightIsConstant = m_alternative.constantInputs[i] && m_operands[1].reads == 1;
    }

    /// From what the anchor reads back to the tensor before it was padded.
    Result<> findPadding(std::int32_t from)
    {
        ConvArgs& args = *std::get_if<ConvArgs>(&m_nest.args);
        std::array<std::int64_t, 2> before = {0, 0};
        const std::array<std::int64_t, 2> size = {args.height, args.width};
        const std::array<std::int32_t, 4>& dims = m_nest.padded.dims;
        std::int32_t at = from;
        while (!isPlaceholder(at)) {
            const std::vector<Operand> sources = search::operandsOf(m_dag, at);
            if (sources.size() != 1 || op(at).shape.size() != 4 || op(sources.front().producer).shape.size() != 4)
                break; // computed on the way: its layout is not ours to choose
            for (std::size_t w = 0; w < 2; ++w)
                before[w] += shiftOf(op(at), sources.front().producer, static_cast<std::size_t>(dims[w + 2]));
            at = sources.front().producer;
        }
        const std::vector<std::int64_t>& shape = op(at).shape;
        args.height = shape[static_cast<std::size_t>(dims[2])];
        args.width = shape[static_cast<std::size_t>(dims[3])];
        args.padding = {before[0], before[1], size[0] - args.height - before[0], size[1] - args.width - before[1]};
        args.dtype = toString(op(at).dtype);
        if (std::any_of(args.padding.begin(), args.padding.end(), [](std::int64_t p) { return p < 0; }))
            return unsupported("its data are cut, not padded");
        if (isPlaceholder(at))
            m_nest.data = {at, dims};
        return {};
    }

    /// By how much the index of a dimension lies behind the axis, in the first read.
    static std::int64_t shiftOf(const Op& reader, std::int32_t producer, std::size_t dim)
    {
        std::int64_t shift = 0;
        bool found = false;
        for (const ir::Expr& body : reader.bodies)
            ir::visit(body, [&](const ir::Expr& e) {
                if (found || e->kind != ir::ExprKind::Load || e->source != producer)
                    return;
                found = true;
                shift = -ir::linearForm(e->operands[dim], {}).constant;
            });
        return shift;
    }

    void findResiduals()
    {
        if (m_nest.owner == m_nest.anchor)
            return;
        const std::vector<std::int64_t>& shape = op(m_nest.owner).shape;
        for (const std::int32_t input : m_dag.inputs) {
            if (input == m_nest.data.op || input == m_nest.weight || op(input).shape != shape)
                continue;
            const auto& readers = m_analysis.consumers(input);
            const bool plain = readers.size() == 1 && !m_analysis.op(readers.front()).hasReduce
                               && m_analysis.elementwiseMatch(input, m_nest.owner);
            if (plain)
                m_nest.residuals.push_back({input, m_nest.output.dims});
        }
    }

    const search::SearchAlternative& m_alternative;
    compute::Analysis m_analysis;
    const compute::Dag& m_dag;
    MatchedNest m_nest;
    std::int32_t m_rank = 0;
    std::vector<Operand> m_operands;
};

} // namespace

Result<MatchedNest> matchNest(const search::SearchAlternative& alternative)
{
    return Matcher(alternative).run();
}

} // namespace lathe::templates
