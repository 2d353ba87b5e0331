#include "plugins/sim/machine.h"

#include <algorithm>
#include <cmath>

namespace lathe::sim {

namespace {

Value load(const char* at, DType dtype)
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

Value cast(Value value, DType from, DType to)
{
    if (isFloat(to))
        return ofFloat(isFloat(from) ? value.f : static_cast<double>(value.i), to);
    if (to == DType::Bool)
        return ofInt(isFloat(from) ? value.f != 0 : value.i != 0);
    return ofInt(isFloat(from) ? toWhole(value.f, to) : wrap(value.i, to));
}

Value binary(const Node& node, Value a, Value b, DType dtype)
{
    const bool f = isFloat(dtype);
    switch (node.kind) {
    case NodeKind::Add: return f ? ofFloat(a.f + b.f, dtype) : ofInt(wrap(a.i + b.i, dtype));
    case NodeKind::Sub: return f ? ofFloat(a.f - b.f, dtype) : ofInt(wrap(a.i - b.i, dtype));
    case NodeKind::Mul: return f ? ofFloat(a.f * b.f, dtype) : ofInt(wrap(a.i * b.i, dtype));
    case NodeKind::Div: return f ? ofFloat(a.f / b.f, dtype) : ofInt(b.i == 0 ? 0 : a.i / b.i);
    case NodeKind::FloorDiv: return ofInt(floorDivide(a.i, b.i));
    case NodeKind::FloorMod: return ofInt(b.i == 0 ? 0 : a.i - floorDivide(a.i, b.i) * b.i);
    case NodeKind::Min: return f ? ofFloat(a.f < b.f || std::isnan(a.f) ? a.f : b.f, dtype) : ofInt(std::min(a.i, b.i));
    case NodeKind::Max: return f ? ofFloat(a.f > b.f || std::isnan(a.f) ? a.f : b.f, dtype) : ofInt(std::max(a.i, b.i));
    case NodeKind::Eq: return ofInt(f ? a.f == b.f : a.i == b.i);
    case NodeKind::Ne: return ofInt(f ? a.f != b.f : a.i != b.i);
    case NodeKind::Lt: return ofInt(f ? a.f < b.f : a.i < b.i);
    case NodeKind::Le: return ofInt(f ? a.f <= b.f : a.i <= b.i);
    case NodeKind::Gt: return ofInt(f ? a.f > b.f : a.i > b.i);
    case NodeKind::Ge: return ofInt(f ? a.f >= b.f : a.i >= b.i);
    default: return ofInt(0);
    }
}

} // namespace

void Machine::store(char* at, DType dtype, Value value, DType from)
{
    if (isFloat(dtype)) {
        const double f = isFloat(from) ? value.f : static_cast<double>(value.i);
        dtype == DType::F32 ? put(at, static_cast<float>(f)) : put(at, f);
        return;
    }
    const std::int64_t i = isFloat(from) ? toWhole(value.f, dtype) : value.i;
    std::memcpy(at, &i, static_cast<std::size_t>(sizeOf(dtype))); // little endian: the low bytes
}

std::int64_t Machine::offset(const Node& node, std::uint32_t indices)
{
    const Buffer& buffer = m_program.buffers[node.index];
    std::int64_t offset = 0;
    for (std::uint32_t d = 0; d < indices; ++d) {
        const std::int64_t index = evaluate(m_program.children[node.firstChild + d]).i;
        if (index < 0 || index >= buffer.shape[d]) {
            if (ok())
                m_problem = "index " + std::to_string(index) + " of dimension " + std::to_string(d) + " leaves buffer "
                            + std::to_string(node.index) + ", which has " + std::to_string(buffer.shape[d]) + " there";
            return -1;
        }
        offset += index * buffer.strides[d];
    }
    return offset;
}

Value Machine::evaluate(std::int32_t index)
{
    const Node& node = m_program.nodes[index];
    const std::int32_t* child = m_program.children + node.firstChild;
    switch (node.kind) {
    case NodeKind::IntImm:
        return isFloat(node.dtype) ? ofFloat(static_cast<double>(node.intValue), node.dtype) : ofInt(node.intValue);
    case NodeKind::FloatImm: return ofFloat(node.floatValue, node.dtype);
    case NodeKind::Var: return ofInt(m_frame[node.index]);
    case NodeKind::Select: return evaluate(evaluate(child[0]).i != 0 ? child[1] : child[2]);
    case NodeKind::And: return ofInt(evaluate(child[0]).i != 0 && evaluate(child[1]).i != 0);
    case NodeKind::Or: return ofInt(evaluate(child[0]).i != 0 || evaluate(child[1]).i != 0);
    case NodeKind::Not: return ofInt(evaluate(child[0]).i == 0);
    case NodeKind::Load: {
        const char* at = element(node, node.childCount);
        return at ? load(at, m_program.buffers[node.index].dtype) : ofInt(0);
    }
    case NodeKind::Cast: return cast(evaluate(child[0]), m_program.nodes[child[0]].dtype, node.dtype);
    case NodeKind::Call: return call(node);
    default: return binary(node, evaluate(child[0]), evaluate(child[1]), m_program.nodes[child[0]].dtype);
    }
}

Value Machine::call(const Node& node)
{
    double x[3] = {};
    for (std::uint32_t c = 0; c < std::min(node.childCount, 3u); ++c) {
        const std::int32_t argument = m_program.children[node.firstChild + c];
        const Value value = evaluate(argument);
        x[c] = isFloat(m_program.nodes[argument].dtype) ? value.f : static_cast<double>(value.i);
    }
    const double result = callFunction(static_cast<Function>(node.function), x);
    return isFloat(node.dtype) ? ofFloat(result, node.dtype)
                               : ofInt(wrap(static_cast<std::int64_t>(result), node.dtype));
}

PhaseMachine::PhaseMachine(const Kernel& kernel, const ProgramView& program, void* const* parameters)
    : Machine(program)
    , m_variables(kernel.variables)
    , m_data(kernel.bufferCount)
{
    m_frame = m_variables.data();
    m_scratch.resize(kernel.bufferCount);
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
        const Buffer& buffer = program.buffers[b];
        if (buffer.parameter >= 0) {
            m_data[b] = static_cast<char*>(parameters[buffer.parameter]);
        } else {
            m_scratch[b].resize(static_cast<std::size_t>(buffer.elements * sizeOf(buffer.dtype)));
            m_data[b] = m_scratch[b].data();
        }
    }
}

char* PhaseMachine::element(const Node& node, std::uint32_t indices)
{
    const std::int64_t at = offset(node, indices);
    return at < 0 ? nullptr
                  : m_data[static_cast<std::size_t>(node.index)] + at * sizeOf(m_program.buffers[node.index].dtype);
}

void PhaseMachine::execute(std::int32_t index)
{
    const Node& node = m_program.nodes[index];
    const std::int32_t* child = m_program.children + node.firstChild;
    switch (node.kind) {
    case NodeKind::Block:
        for (std::uint32_t c = 0; c < node.childCount && ok(); ++c)
            execute(child[c]);
        break;
    case NodeKind::For: {
        const std::int64_t min = evaluate(child[0]).i;
        const std::int64_t extent = evaluate(child[1]).i;
        for (std::int64_t i = 0; i < extent && ok(); ++i) {
            m_frame[node.index] = min + i;
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
        if (char* at = element(node, node.childCount - 1))
            store(at, m_program.buffers[node.index].dtype, value, m_program.nodes[child[node.childCount - 1]].dtype);
        break;
    }
    default: break;
    }
}

} // namespace lathe::sim
