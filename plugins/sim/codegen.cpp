#include "core/backend/codegen.h"

#include "core/support/files.h"
#include "core/support/message.h"
#include "plugins/sim/cost_model.h"
#include "plugins/sim/fault_script.h"
#include "plugins/sim/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

namespace lathe::sim {

namespace {

/// Above this many steps -interpret=auto leaves the outputs alone: a minute would pass for a second of model time.
constexpr double kMaxSteps = 3e7;

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

/// Flattens loop nests into the arrays of program.h.
class Writer
{
public:
    Result<> add(const schedule::LoweredKernel& lowered, const Kernel& facts)
    {
        const ir::LoopNest& nest = lowered.nest;
        Kernel kernel = facts;
        kernel.firstBuffer = static_cast<std::uint32_t>(m_buffers.size());
        kernel.bufferCount = static_cast<std::uint32_t>(nest.buffers.size());
        // What a refused kernel left behind is dropped, so that the others of the artifact are built.
        const auto marks = std::array{m_buffers.size(), m_nodes.size(), m_children.size()};
        m_slots.clear();
        auto root = addNest(nest);
        if (!root) {
            m_buffers.resize(marks[0]);
            m_nodes.resize(marks[1]);
            m_children.resize(marks[2]);
            return std::move(root).error();
        }
        kernel.root = *root;
        kernel.variables = static_cast<std::uint32_t>(m_slots.size());
        m_kernels.push_back(kernel);
        return {};
    }

    std::vector<std::byte> bytes() const
    {
        std::vector<std::byte> out;
        Header header;
        header.kernels = static_cast<std::uint32_t>(m_kernels.size());
        header.buffers = static_cast<std::uint32_t>(m_buffers.size());
        header.nodes = static_cast<std::uint32_t>(m_nodes.size());
        header.children = static_cast<std::uint32_t>(m_children.size());
        append(out, &header, sizeof header);
        append(out, m_kernels.data(), m_kernels.size() * sizeof(Kernel));
        append(out, m_buffers.data(), m_buffers.size() * sizeof(Buffer));
        append(out, m_nodes.data(), m_nodes.size() * sizeof(Node));
        append(out, m_children.data(), m_children.size() * sizeof(std::int32_t));
        return out;
    }

private:
    static void append(std::vector<std::byte>& out, const void* data, std::size_t bytes)
    {
        const auto* begin = static_cast<const std::byte*>(data);
        out.insert(out.end(), begin, begin + bytes);
    }

    Result<std::int32_t> addNest(const ir::LoopNest& nest)
    {
        for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
            const ir::Buffer& from = nest.buffers[b];
            if (from.shape.size() > kMaxDims)
                return unsupported(fmt::format("buffers of {} dimensions", from.shape.size()));
            if (from.dtype == DType::F16 || from.dtype == DType::BF16)
                return unsupported(toString(from.dtype));
            Buffer to;
            const auto parameter = std::find(nest.parameters.begin(), nest.parameters.end(),
                                             static_cast<std::int32_t>(b));
            if (parameter != nest.parameters.end())
                to.parameter = static_cast<std::int32_t>(parameter - nest.parameters.begin());
            to.dtype = from.dtype;
            to.dims = static_cast<std::uint8_t>(from.shape.size());
            to.elements = 1;
            for (std::size_t d = 0; d < from.shape.size(); ++d) {
                to.shape[d] = from.shape[d];
                to.strides[d] = from.strides[d];
                to.elements += (from.shape[d] - 1) * from.strides[d];
            }
            m_buffers.push_back(to);
        }
        std::vector<std::int32_t> phases;
        for (const ir::Stmt& phase : nest.phases) {
            LATHE_TRY_ASSIGN(const std::int32_t node, addStmt(*phase));
            phases.push_back(node);
        }
        return push({NodeKind::Block}, phases);
    }

    std::int32_t push(Node node, const std::vector<std::int32_t>& children)
    {
        node.firstChild = static_cast<std::uint32_t>(m_children.size());
        node.childCount = static_cast<std::uint32_t>(children.size());
        m_children.insert(m_children.end(), children.begin(), children.end());
        m_nodes.push_back(node);
        return static_cast<std::int32_t>(m_nodes.size() - 1);
    }

    std::int32_t slot(const ir::Node* variable)
    {
        return m_slots.emplace(variable, static_cast<std::int32_t>(m_slots.size())).first->second;
    }

    Result<std::vector<std::int32_t>> addAll(const std::vector<ir::Expr>& expressions)
    {
        std::vector<std::int32_t> nodes;
        for (const ir::Expr& e : expressions) {
            LATHE_TRY_ASSIGN(const std::int32_t node, addExpr(*e));
            nodes.push_back(node);
        }
        return nodes;
    }

    Result<std::int32_t> addExpr(const ir::Node& e)
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

    Result<std::int32_t> addStmt(const ir::StmtNode& s)
    {
        Node node;
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
        case ir::StmtKind::Store: {
            node.kind = NodeKind::Store;
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
            return push({NodeKind::Block}, {});
        case ir::StmtKind::Evaluate: return unsupported("tensor intrinsics");
        case ir::StmtKind::Barrier: return unsupported("barriers");
        }
        for (const ir::Stmt& child : s.body) {
            LATHE_TRY_ASSIGN(const std::int32_t body, addStmt(*child));
            children.push_back(body);
        }
        return push(node, children);
    }

    std::vector<Kernel> m_kernels;
    std::vector<Buffer> m_buffers;
    std::vector<Node> m_nodes;
    std::vector<std::int32_t> m_children;
    std::map<const ir::Node*, std::int32_t> m_slots;
};

class SimCodegen final : public backend::Codegen
{
public:
    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        auto made = std::make_unique<SimCodegen>();
        made->m_target = target.text();
        if (const auto file = target.attribute("script")) {
            LATHE_TRY_ASSIGN(const std::string text, readFile(*file, 16 << 20));
            LATHE_TRY_ASSIGN(made->m_faults, FaultScript::parse(text));
        }
        if (const auto file = target.attribute("cost")) {
            LATHE_TRY_ASSIGN(const std::string text, readFile(*file, 1 << 20));
            LATHE_TRY_ASSIGN(made->m_machine, Machine::fromJson(text));
        }
        if (const auto seed = target.attribute("seed"))
            if (std::from_chars(seed->data(), seed->data() + seed->size(), made->m_machine.seed).ec != std::errc())
                return makeError(Errc::InvalidArgument, "-seed takes a number");
        made->m_interpret = target.attribute("interpret").value_or("auto");
        if (made->m_interpret != "auto" && made->m_interpret != "on" && made->m_interpret != "off")
            return makeError(Errc::InvalidArgument, "-interpret takes auto, on or off");
        return std::unique_ptr<Codegen>(std::move(made));
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        Writer writer;
        backend::Artifact artifact;
        artifact.descriptor.format = "sim-nest";
        artifact.descriptor.target = m_target;
        for (const schedule::LoweredKernel& kernel : kernels) {
            const auto decision = m_faults.decide(kernel.nest.name);
            backend::BuiltKernel built;
            built.status = actBuildFault(decision.fault);
            if (built.status) {
                Kernel facts;
                facts.modelNs = modelTimeNs(kernel.nest, m_machine);
                facts.slowdown = decision.fault == Fault::Slow || decision.fault == Fault::Lucky ? decision.factor : 1;
                facts.fault = static_cast<std::uint32_t>(decision.fault);
                facts.interpret = m_interpret == "on"
                                  || (m_interpret == "auto" && interpretationSteps(kernel.nest) <= kMaxSteps);
                built.status = writer.add(kernel, facts);
            }
            if (built.status) {
                KernelInfo info;
                info.name = kernel.nest.name;
                info.parameters = kernel.parameters;
                artifact.descriptor.kernels.push_back(std::move(info));
            }
            artifact.kernels.push_back(std::move(built));
        }
        artifact.bytes = writer.bytes();
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        if (name != "source")
            return makeError(Errc::Unsupported, say(Msg::SimNoListing));
        backend::Listing listing;
        listing.name = name;
        listing.language = "nest";
        listing.program = ir::print(kernel.nest);
        listing.text = fmt::format("{}\nmodel time: {:.1f} ns\n", listing.program, modelTimeNs(kernel.nest, m_machine));
        const auto lines = std::count(listing.program.begin(), listing.program.end(), '\n');
        for (std::int32_t line = 0; line < lines; ++line)
            listing.statements.push_back(line);
        listing.statements.resize(listing.statements.size() + 2, -1);
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel>) override
    {
        return makeError(Errc::Unsupported, say(Msg::SimNoLibraries));
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::SimNoLibraries));
    }

private:
    std::string m_target;
    std::string m_interpret = "auto";
    FaultScript m_faults;
    Machine m_machine;
};

} // namespace

} // namespace lathe::sim

extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "sim",
                                                      &lathe::sim::SimCodegen::create};
    return &plugin;
}
