#include "plugins/sim/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lathe::sim {

namespace {

/// One value: `f` if its node's dtype is a float, else `i`.
union Value
{
    double f;
    std::int64_t i;
};

Value ofInt(std::int64_t i)
{
    Value v;
    v.i = i;
    return v;
}

Value ofFloat(double f, DType dtype)
{
    Value v;
    v.f = dtype == DType::F32 ? static_cast<double>(static_cast<float>(f)) : f;
    return v;
}

std::int64_t wrap(std::int64_t i, DType dtype)
{
    switch (dtype) {
    case DType::Bool: return i != 0;
    case DType::I8: return static_cast<std::int8_t>(i);
    case DType::U8: return static_cast<std::uint8_t>(i);
    case DType::I16: return static_cast<std::int16_t>(i);
    case DType::U16: return static_cast<std::uint16_t>(i);
    case DType::I32: return static_cast<std::int32_t>(i);
    case DType::U32: return static_cast<std::uint32_t>(i);
    default: return i;
    }
}

template<typename T>
T get(const char* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template<typename T>
void put(char* at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        return 0;
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

double callFunction(Function function, const double* x)
{
    switch (function) {
    case Function::Exp: return std::exp(x[0]);
    case Function::Log: return std::log(x[0]);
    case Function::Sqrt: return std::sqrt(x[0]);
    case Function::Rsqrt: return 1 / std::sqrt(x[0]);
    case Function::Tanh: return std::tanh(x[0]);
    case Function::Erf: return std::erf(x[0]);
    case Function::Sigmoid: return 1 / (1 + std::exp(-x[0]));
    case Function::Pow: return std::pow(x[0], x[1]);
    case Function::Floor: return std::floor(x[0]);
    case Function::Ceil: return std::ceil(x[0]);
    case Function::Round: return std::nearbyint(x[0]);
    case Function::Trunc: return std::trunc(x[0]);
    case Function::Abs: return std::fabs(x[0]);
    case Function::Fma: return std::fma(x[0], x[1], x[2]);
    case Function::Sin: return std::sin(x[0]);
    case Function::Cos: return std::cos(x[0]);
    case Function::Expm1: return std::expm1(x[0]);
    case Function::Log1p: return std::log1p(x[0]);
    }
    return 0;
}

class Machine
{
public:
    Machine(const Kernel& kernel, const Buffer* buffers, const Node* nodes, const std::int32_t* children,
            void* const* parameters)
        : m_buffers(buffers)
        , m_nodes(nodes)
        , m_children(children)
        , m_variables(kernel.variables)
        , m_data(kernel.bufferCount)
    {
        m_scratch.resize(kernel.bufferCount);
        for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
            const Buffer& buffer = buffers[b];
            if (buffer.parameter >= 0) {
                m_data[b] = static_cast<char*>(parameters[buffer.parameter]);
            } else {
                m_scratch[b].resize(static_cast<std::size_t>(buffer.elements * sizeOf(buffer.dtype)));
                m_data[b] = m_scratch[b].data();
            }
        }
    }

    void execute(std::int32_t index)
    {
        const Node& node = m_nodes[index];
        const std::int32_t* child = m_children + node.firstChild;
        switch (node.kind) {
        case NodeKind::Block:
            for (std::uint32_t c = 0; c < node.childCount && ok(); ++c)
                execute(child[c]);
            break;
        case NodeKind::For: {
            const std::int64_t min = evaluate(child[0]).i;
            const std::int64_t extent = evaluate(child[1]).i;
            for (std::int64_t i = 0; i < extent && ok(); ++i) {
                m_variables[static_cast<std::size_t>(node.index)] = min + i;
                execute(child[2]);
            }
            break;
        }
        case NodeKind::If:
            if (evaluate(child[0]).i != 0)
                execute(child[1]);
            else if (node.childCount > 2)
                execute(child[2]);
            break;
        case NodeKind::Store: {
            const Value value = evaluate(child[node.childCount - 1]);
            if (char* at = address(node, node.childCount - 1))
                store(at, m_buffers[node.index].dtype, value, m_nodes[child[node.childCount - 1]].dtype);
            break;
        }
        default: break;
        }
    }

    const std::string& problem() const { return m_problem; }

private:
    bool ok() const { return m_problem.empty(); }

    char* address(const Node& node, std::uint32_t indices)
    {
        const Buffer& buffer = m_buffers[node.index];
        std::int64_t offset = 0;
        for (std::uint32_t d = 0; d < indices; ++d) {
            const std::int64_t index = evaluate(m_children[node.firstChild + d]).i;
            if (index < 0 || index >= buffer.shape[d]) {
                if (ok())
                    m_problem = "index " + std::to_string(index) + " of dimension " + std::to_string(d)
                                + " leaves buffer " + std::to_string(node.index) + ", which has "
                                + std::to_string(buffer.shape[d]) + " there";
                return nullptr;
            }
            offset += index * buffer.strides[d];
        }
        return m_data[static_cast<std::size_t>(node.index)] + offset * sizeOf(buffer.dtype);
    }

    static Value load(const char* at, DType dtype)
    {
        switch (dtype) {
        case DType::Bool: return ofInt(get<std::uint8_t>(at) != 0);
        case DType::I8: return ofInt(get<std::int8_t>(at));
        case DType::U8: return ofInt(get<std::uint8_t>(at));
        case DType::I16: return ofInt(get<std::int16_t>(at));
        case DType::U16: return ofInt(get<std::uint16_t>(at));
        case DType::I32: return ofInt(get<std::int32_t>(at));
        case DType::U32: return ofInt(get<std::uint32_t>(at));
        case DType::I64:
        case DType::U64: return ofInt(get<std::int64_t>(at));
        case DType::F32: return ofFloat(static_cast<double>(get<float>(at)), dtype);
        default: return ofFloat(get<double>(at), DType::F64);
        }
    }

    static void store(char* at, DType dtype, Value value, DType from)
    {
        if (isFloat(dtype)) {
            const double f = isFloat(from) ? value.f : static_cast<double>(value.i);
            dtype == DType::F32 ? put(at, static_cast<float>(f)) : put(at, f);
            return;
        }
        const std::int64_t i = isFloat(from) ? static_cast<std::int64_t>(value.f) : value.i;
        std::memcpy(at, &i, static_cast<std::size_t>(sizeOf(dtype))); // little endian: the low bytes
    }

    Value evaluate(std::int32_t index)
    {
        const Node& node = m_nodes[index];
        const std::int32_t* child = m_children + node.firstChild;
        switch (node.kind) {
        case NodeKind::IntImm:
            return isFloat(node.dtype) ? ofFloat(static_cast<double>(node.intValue), node.dtype) : ofInt(node.intValue);
        case NodeKind::FloatImm: return ofFloat(node.floatValue, node.dtype);
        case NodeKind::Var: return ofInt(m_variables[static_cast<std::size_t>(node.index)]);
        case NodeKind::Select: return evaluate(evaluate(child[0]).i != 0 ? child[1] : child[2]);
        case NodeKind::And: return ofInt(evaluate(child[0]).i != 0 && evaluate(child[1]).i != 0);
        case NodeKind::Or: return ofInt(evaluate(child[0]).i != 0 || evaluate(child[1]).i != 0);
        case NodeKind::Not: return ofInt(evaluate(child[0]).i == 0);
        case NodeKind::Load: {
            const char* at = address(node, node.childCount);
            return at ? load(at, m_buffers[node.index].dtype) : ofInt(0);
        }
        case NodeKind::Cast: return cast(evaluate(child[0]), m_nodes[child[0]].dtype, node.dtype);
        case NodeKind::Call: return call(node);
        default: return binary(node, evaluate(child[0]), evaluate(child[1]), m_nodes[child[0]].dtype);
        }
    }

    static Value cast(Value value, DType from, DType to)
    {
        if (isFloat(to))
            return ofFloat(isFloat(from) ? value.f : static_cast<double>(value.i), to);
        if (to == DType::Bool)
            return ofInt(isFloat(from) ? value.f != 0 : value.i != 0);
        return ofInt(wrap(isFloat(from) ? static_cast<std::int64_t>(value.f) : value.i, to));
    }

    Value call(const Node& node)
    {
        double x[3] = {};
        for (std::uint32_t c = 0; c < std::min(node.childCount, 3u); ++c) {
            const std::int32_t argument = m_children[node.firstChild + c];
            const Value value = evaluate(argument);
            x[c] = isFloat(m_nodes[argument].dtype) ? value.f : static_cast<double>(value.i);
        }
        const double result = callFunction(static_cast<Function>(node.function), x);
        return isFloat(node.dtype) ? ofFloat(result, node.dtype)
                                   : ofInt(wrap(static_cast<std::int64_t>(result), node.dtype));
    }

    static Value binary(const Node& node, Value a, Value b, DType dtype)
    {
        const bool f = isFloat(dtype);
        switch (node.kind) {
        case NodeKind::Add: return f ? ofFloat(a.f + b.f, dtype) : ofInt(wrap(a.i + b.i, dtype));
        case NodeKind::Sub: return f ? ofFloat(a.f - b.f, dtype) : ofInt(wrap(a.i - b.i, dtype));
        case NodeKind::Mul: return f ? ofFloat(a.f * b.f, dtype) : ofInt(wrap(a.i * b.i, dtype));
        case NodeKind::Div: return f ? ofFloat(a.f / b.f, dtype) : ofInt(b.i == 0 ? 0 : a.i / b.i);
        case NodeKind::FloorDiv: return ofInt(floorDivide(a.i, b.i));
        case NodeKind::FloorMod: return ofInt(b.i == 0 ? 0 : a.i - floorDivide(a.i, b.i) * b.i);
        case NodeKind::Min:
            return f ? ofFloat(a.f < b.f || std::isnan(a.f) ? a.f : b.f, dtype) : ofInt(std::min(a.i, b.i));
        case NodeKind::Max:
            return f ? ofFloat(a.f > b.f || std::isnan(a.f) ? a.f : b.f, dtype) : ofInt(std::max(a.i, b.i));
        case NodeKind::Eq: return ofInt(f ? a.f == b.f : a.i == b.i);
        case NodeKind::Ne: return ofInt(f ? a.f != b.f : a.i != b.i);
        case NodeKind::Lt: return ofInt(f ? a.f < b.f : a.i < b.i);
        case NodeKind::Le: return ofInt(f ? a.f <= b.f : a.i <= b.i);
        case NodeKind::Gt: return ofInt(f ? a.f > b.f : a.i > b.i);
        case NodeKind::Ge: return ofInt(f ? a.f >= b.f : a.i >= b.i);
        default: return ofInt(0);
        }
    }

    const Buffer* m_buffers;
    const Node* m_nodes;
    const std::int32_t* m_children;
    std::vector<std::int64_t> m_variables;
    std::vector<char*> m_data;
    std::vector<std::vector<char>> m_scratch;
    std::string m_problem;
};

/// How many children a node must at least have.
std::uint32_t minChildren(NodeKind kind)
{
    switch (kind) {
    case NodeKind::IntImm:
    case NodeKind::FloatImm:
    case NodeKind::Var:
    case NodeKind::Load:
    case NodeKind::Block: return 0;
    case NodeKind::Not:
    case NodeKind::Cast:
    case NodeKind::Call:
    case NodeKind::Store: return 1;
    case NodeKind::Select:
    case NodeKind::For: return 3;
    default: return 2;
    }
}

template<typename T>
bool take(const char*& at, const char* end, std::uint32_t count, std::vector<T>& out)
{
    if (static_cast<std::size_t>(end - at) / sizeof(T) < count)
        return false;
    out.resize(count);
    if (count > 0)
        std::memcpy(out.data(), at, count * sizeof(T));
    at += count * sizeof(T);
    return true;
}

} // namespace

std::string Program::read(const void* bytes, std::size_t size)
{
    const auto* at = static_cast<const char*>(bytes);
    const char* const end = at + size;
    Header header;
    if (size < sizeof header)
        return "the artifact is cut off";
    std::memcpy(&header, at, sizeof header);
    at += sizeof header;
    if (header.magic != kMagic)
        return "the artifact is no program of the simulator";
    if (!take(at, end, header.kernels, m_kernels) || !take(at, end, header.buffers, m_buffers)
        || !take(at, end, header.nodes, m_nodes) || !take(at, end, header.children, m_children) || at != end)
        return "the artifact is cut off";
    for (const Buffer& b : m_buffers) {
        if (b.dims > kMaxDims || b.elements < 1 || b.elements > (std::int64_t(1) << 36) || b.dtype > DType::F64)
            return "the artifact has a buffer that is out of range";
        std::int64_t last = 0;
        for (int d = 0; d < b.dims; ++d) {
            if (b.shape[d] < 1 || b.strides[d] < 0 || b.shape[d] > (std::int64_t(1) << 30)
                || b.strides[d] > (std::int64_t(1) << 30))
                return "the artifact has a buffer that is out of range";
            last += (b.shape[d] - 1) * b.strides[d];
            if (last >= b.elements)
                return "the artifact has a buffer that is larger than it says";
        }
    }
    for (const Kernel& k : m_kernels) {
        if (k.bufferCount > m_buffers.size() || k.firstBuffer > m_buffers.size() - k.bufferCount || k.root < 0
            || static_cast<std::size_t>(k.root) >= m_nodes.size() || k.variables > 65536)
            return "the artifact has a kernel that is out of range";
    }
    const Kernel* kernel = m_kernels.data(); // nodes lie in the order of kernels, roots last
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
        while (kernel != m_kernels.data() + m_kernels.size() && static_cast<std::size_t>(kernel->root) < n)
            ++kernel;
        if (kernel == m_kernels.data() + m_kernels.size())
            return "the artifact has statements of no kernel";
        const Node& node = m_nodes[n];
        const bool access = node.kind == NodeKind::Load || node.kind == NodeKind::Store;
        const std::uint32_t limit = access ? kernel->bufferCount : kernel->variables;
        if (node.kind > NodeKind::If || node.dtype > DType::F64 || node.function > static_cast<int>(Function::Log1p)
            || node.childCount < minChildren(node.kind) || node.childCount > m_children.size()
            || node.firstChild > m_children.size() - node.childCount
            || ((access || node.kind == NodeKind::Var || node.kind == NodeKind::For)
                && (node.index < 0 || static_cast<std::uint32_t>(node.index) >= limit)))
            return "the artifact has a statement that is out of range";
        if (access
            && node.childCount - (node.kind == NodeKind::Store ? 1u : 0u)
                   != m_buffers[kernel->firstBuffer + static_cast<std::uint32_t>(node.index)].dims)
            return "the artifact has an access with the wrong number of indices";
        for (std::uint32_t c = 0; c < node.childCount; ++c)
            if (m_children[node.firstChild + c] < 0 || static_cast<std::size_t>(m_children[node.firstChild + c]) >= n)
                return "the artifact has a statement that contains itself";
    }
    return {};
}

std::size_t Program::parameterBytes(const Kernel& kernel, std::uint32_t parameter) const
{
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
        const Buffer& buffer = m_buffers[kernel.firstBuffer + b];
        if (buffer.parameter == static_cast<std::int32_t>(parameter))
            return static_cast<std::size_t>(buffer.elements * sizeOf(buffer.dtype));
    }
    return 0;
}

std::string Program::run(const Kernel& kernel, void* const* parameters) const
{
    Machine machine(kernel, buffers(kernel), m_nodes.data(), m_children.data(), parameters);
    machine.execute(kernel.root);
    return machine.problem();
}

} // namespace lathe::sim
