#include "plugins/sim/program_writer.h"

#include "core/ir/scratch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace lathe::sim {

namespace {

constexpr std::array<std::string_view, 18> kFunctions = {"exp",     "log", "sqrt",  "rsqrt", "tanh",  "erf",
                                                         "sigmoid", "pow", "floor", "ceil",  "round", "trunc",
                                                         "abs",     "fma", "sin",   "cos",   "expm1", "log1p"};

Error unsupported(std::string what)
{
    return makeError(Errc::Unsupported, "the simulator does not know " + std::move(what));
}

std::optional<NodeKind> binaryKind(ir::ExprKind kind)
{
    switch (kind) {
    case ir::ExprKind::Add: return NodeKind::Add;
    case ir::ExprKind::Sub: return NodeKind::Sub;
    case ir::ExprKind::Mul: return NodeKind::Mul;
    case ir::ExprKind::Div: return NodeKind::Div;
    case ir::ExprKind::FloorDiv: return NodeKind::FloorDiv;
    case ir::ExprKind::FloorMod: return NodeKind::FloorMod;
    case ir::ExprKind::Min: return NodeKind::Min;
    case ir::ExprKind::Max: return NodeKind::Max;
    case ir::ExprKind::Eq: return NodeKind::Eq;
    case ir::ExprKind::Ne: return NodeKind::Ne;
    case ir::ExprKind::Lt: return NodeKind::Lt;
    case ir::ExprKind::Le: return NodeKind::Le;
    case ir::ExprKind::Gt: return NodeKind::Gt;
    case ir::ExprKind::Ge: return NodeKind::Ge;
    case ir::ExprKind::And: return NodeKind::And;
    case ir::ExprKind::Or: return NodeKind::Or;
    case ir::ExprKind::Not: return NodeKind::Not;
    case ir::ExprKind::Select:
    case ir::ExprKind::IfThenElse: return NodeKind::Select; // the interpreter only evaluates the side that is taken
    case ir::ExprKind::Cast: return NodeKind::Cast;
    default: return std::nullopt;
    }
}

void append(std::vector<std::byte>& out, const void* data, std::size_t bytes)
{
    const auto* begin = static_cast<const std::byte*>(data);
    out.insert(out.end(), begin, begin + bytes);
}

Place placeOf(ir::Scope scope)
{
    switch (scope) {
    case ir::Scope::Parameter:
    case ir::Scope::Team: return Place::Device;
    case ir::Scope::Shared: return Place::Group;
    default: return Place::Thread;
    }
}

} // namespace

Result<> ProgramWriter::add(const schedule::LoweredKernel& lowered, const Kernel& facts)
{
    const ir::LoopNest& nest = lowered.nest;
    Kernel kernel = facts;
    kernel.firstBuffer = static_cast<std::uint32_t>(m_buffers.size());
    kernel.bufferCount = static_cast<std::uint32_t>(nest.buffers.size());
    kernel.firstLaunch = static_cast<std::uint32_t>(m_launches.size());
    kernel.launchCount = static_cast<std::uint32_t>(nest.launches.size());
    // What a refused kernel left behind is dropped, so that the others of the artifact are built. Texts stay.
    const auto marks = std::array{m_buffers.size(), m_nodes.size(), m_children.size(), m_launches.size()};
    m_slots.clear();
    m_nest = &nest;
    auto root = addNest(nest);
    if (!root) {
        m_buffers.resize(marks[0]);
        m_nodes.resize(marks[1]);
        m_children.resize(marks[2]);
        m_launches.resize(marks[3]);
        return std::move(root).error();
    }
    kernel.root = *root;
    kernel.variables = static_cast<std::uint32_t>(m_slots.size());
    m_kernels.push_back(kernel);
    return {};
}

std::vector<std::byte> ProgramWriter::bytes() const
{
    std::vector<std::byte> out;
    Header header;
    header.kernels = static_cast<std::uint32_t>(m_kernels.size());
    header.launches = static_cast<std::uint32_t>(m_launches.size());
    header.buffers = static_cast<std::uint32_t>(m_buffers.size());
    header.nodes = static_cast<std::uint32_t>(m_nodes.size());
    header.children = static_cast<std::uint32_t>(m_children.size());
    header.texts = static_cast<std::uint32_t>(m_texts.size());
    append(out, &header, sizeof header);
    append(out, m_kernels.data(), m_kernels.size() * sizeof(Kernel));
    append(out, m_launches.data(), m_launches.size() * sizeof(Launch));
    append(out, m_buffers.data(), m_buffers.size() * sizeof(Buffer));
    append(out, m_nodes.data(), m_nodes.size() * sizeof(Node));
    append(out, m_children.data(), m_children.size() * sizeof(std::int32_t));
    append(out, m_texts.data(), m_texts.size());
    return out;
}

Result<> ProgramWriter::addBuffers(const ir::LoopNest& nest)
{
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
        const ir::Buffer& from = nest.buffers[b];
        if (from.shape.size() > kMaxDims)
            return unsupported(fmt::format("buffers of {} dimensions", from.shape.size()));
        if (from.dtype == DType::F16 || from.dtype == DType::BF16)
            return unsupported(toString(from.dtype));
        Buffer to;
        const auto parameter = std::find(nest.parameters.begin(), nest.parameters.end(), static_cast<std::int32_t>(b));
        if (parameter != nest.parameters.end())
            to.parameter = static_cast<std::int32_t>(parameter - nest.parameters.begin());
        to.dtype = from.dtype;
        to.place = placeOf(from.scope);
        to.readOnly = from.readOnly ? 1 : 0;
        to.name = addText(from.name);
        to.dims = static_cast<std::uint8_t>(from.shape.size());
        to.elements = 1;
        for (std::size_t d = 0; d < from.shape.size(); ++d) {
            to.shape[d] = from.shape[d];
            to.strides[d] = from.strides[d];
            to.elements += (from.shape[d] - 1) * from.strides[d];
        }
        m_buffers.push_back(to);
    }
    return {};
}

Result<std::int32_t> ProgramWriter::addNest(const ir::LoopNest& nest)
{
    LATHE_TRY(addBuffers(nest));
    std::vector<std::int32_t> bodies;
    for (const ir::Stmt& phase : nest.phases) {
        LATHE_TRY_ASSIGN(const std::int32_t node, addStmt(*phase));
        bodies.push_back(node);
    }
    for (const ir::Launch& launch : nest.launches) {
        LATHE_TRY_ASSIGN(const Launch added, addLaunch(nest, launch));
        bodies.push_back(added.body);
        m_launches.push_back(added);
    }
    return push({NodeKind::Block}, bodies);
}

Result<Launch> ProgramWriter::addLaunch(const ir::LoopNest& nest, const ir::Launch& launch)
{
    Launch to;
    to.name = addText(fmt::format("launch {} of kernel {}", launch.name, nest.name));
    to.sharedBytes = ir::sharedBytes(nest, launch);
    for (std::size_t d = 0; d < 3; ++d) {
        to.grid[d] = launch.grid[d];
        to.block[d] = launch.block[d];
        to.blockSlots[d] = slot(launch.blockIndex[d].get());
        to.threadSlots[d] = slot(launch.threadIndex[d].get());
    }
    if (launch.body) {
        LATHE_TRY_ASSIGN(to.body, addStmt(*launch.body));
    } else {
        to.body = push({NodeKind::Block}, {});
    }
    return to;
}

std::uint32_t ProgramWriter::addText(std::string_view text)
{
    if (const auto known = m_textPlaces.find(text); known != m_textPlaces.end())
        return known->second;
    const auto place = static_cast<std::uint32_t>(m_texts.size());
    m_texts.append(text);
    m_texts.push_back('\0');
    m_textPlaces.emplace(text, place);
    return place;
}

std::int32_t ProgramWriter::push(Node node, const std::vector<std::int32_t>& children)
{
    node.firstChild = static_cast<std::uint32_t>(m_children.size());
    node.childCount = static_cast<std::uint32_t>(children.size());
    m_children.insert(m_children.end(), children.begin(), children.end());
    m_nodes.push_back(node);
    return static_cast<std::int32_t>(m_nodes.size() - 1);
}

std::int32_t ProgramWriter::slot(const ir::Node* variable)
{
    return m_slots.emplace(variable, static_cast<std::int32_t>(m_slots.size())).first->second;
}

Result<std::vector<std::int32_t>> ProgramWriter::addAll(const std::vector<ir::Expr>& expressions)
{
    std::vector<std::int32_t> nodes;
    for (const ir::Expr& e : expressions) {
        LATHE_TRY_ASSIGN(const std::int32_t node, addExpr(*e));
        nodes.push_back(node);
    }
    return nodes;
}

Result<std::int32_t> ProgramWriter::addExpr(const ir::Node& e)
{
    Node node;
    node.dtype = e.dtype;
    node.intValue = e.intValue;
    node.floatValue = e.floatValue;
    if (e.kind == ir::ExprKind::IntImm)
        return push(node, {});
    if (e.kind == ir::ExprKind::FloatImm) {
        node.kind = NodeKind::FloatImm;
        return push(node, {});
    }
    if (e.kind == ir::ExprKind::Var) {
        node.kind = NodeKind::Var;
        node.index = slot(&e);
        return push(node, {});
    }
    LATHE_TRY_ASSIGN(const std::vector<std::int32_t> operands, addAll(e.operands));
    if (e.kind == ir::ExprKind::Load) {
        node.kind = NodeKind::Load;
        node.index = e.source;
    } else if (e.kind == ir::ExprKind::Call) {
        const std::string_view name = e.name == "fabs" ? std::string_view("abs") : std::string_view(e.name);
        const auto known = std::find(kFunctions.begin(), kFunctions.end(), name);
        if (known == kFunctions.end())
            return unsupported(fmt::format("the intrinsic \"{}\"", e.name));
        node.kind = NodeKind::Call;
        node.function = static_cast<std::uint8_t>(known - kFunctions.begin());
    } else if (const auto kind = binaryKind(e.kind)) {
        node.kind = *kind;
    } else {
        return unsupported("an expression of this nest");
    }
    return push(node, operands);
}

/// Element by element.
Result<std::int32_t> ProgramWriter::addCopy(const ir::StmtNode& s, Node node)
{
    node.kind = NodeKind::Copy;
    node.index = s.buffer;
    std::vector<std::int32_t> copies;
    for (std::int32_t i = 0; i < s.count; ++i) {
        std::vector<ir::Expr> to = s.indices, from = s.value->operands;
        if (i > 0) {
            to.back() = to.back() + ir::Expr(i);
            from.back() = from.back() + ir::Expr(i);
        }
        LATHE_TRY_ASSIGN(std::vector<std::int32_t> children, addAll(to));
        const ir::Expr source = ir::load(s.value->source, s.value->dtype, std::move(from));
        LATHE_TRY_ASSIGN(const std::int32_t value, addExpr(*source));
        children.push_back(value);
        copies.push_back(push(node, children));
    }
    return push({NodeKind::Block}, copies);
}

Result<std::int32_t> ProgramWriter::addStmt(const ir::StmtNode& s)
{
    Node node;
    if (!m_nest->launches.empty() && s.kind != ir::StmtKind::Block) // of phases nothing is told by statement
        node.intValue = addText(ir::firstLine(*m_nest, s));
    std::vector<std::int32_t> children;
    switch (s.kind) {
    case ir::StmtKind::For: {
        if (s.loop == ir::LoopKind::Tensorized)
            return unsupported("tensorized loops");
        node.kind = NodeKind::For;
        node.index = slot(s.variable.get());
        LATHE_TRY_ASSIGN(const std::int32_t min, addExpr(*s.min));
        LATHE_TRY_ASSIGN(const std::int32_t extent, addExpr(*s.extent));
        children = {min, extent};
        break;
    }
    case ir::StmtKind::Shuffle:
        node.function = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint32_t>(s.distance)));
        node.reserved = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint32_t>(s.warp)));
        [[fallthrough]];
    case ir::StmtKind::Store: {
        node.kind = s.kind == ir::StmtKind::Store ? NodeKind::Store : NodeKind::Shuffle;
        node.index = s.buffer;
        LATHE_TRY_ASSIGN(children, addAll(s.indices));
        LATHE_TRY_ASSIGN(const std::int32_t value, addExpr(*s.value));
        children.push_back(value);
        return push(node, children);
    }
    case ir::StmtKind::If: {
        node.kind = NodeKind::If;
        LATHE_TRY_ASSIGN(const std::int32_t condition, addExpr(*s.condition));
        children = {condition};
        break;
    }
    case ir::StmtKind::Block: node.kind = NodeKind::Block; break;
    case ir::StmtKind::Prefetch: // a hint; nothing to compute
        node.kind = NodeKind::Block;
        return push(node, {});
    case ir::StmtKind::Evaluate: return unsupported("tensor intrinsics");
    case ir::StmtKind::Barrier: node.kind = NodeKind::Barrier; return push(node, {});
    case ir::StmtKind::AsyncCopy: return addCopy(s, node);
    case ir::StmtKind::AsyncCommit: node.kind = NodeKind::Commit; return push(node, {});
    case ir::StmtKind::AsyncWait:
        node.kind = NodeKind::Wait;
        node.index = s.count;
        return push(node, {});
    }
    for (const ir::Stmt& child : s.body) {
        LATHE_TRY_ASSIGN(const std::int32_t body, addStmt(*child));
        children.push_back(body);
    }
    return push(node, children);
}

} // namespace lathe::sim
