#include "core/backend/source_text.h"
#include "core/ir/linear_form.h"
#include "core/ir/padded_load.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

// Loops over lanes as vectors. A body fits if nothing but what is loaded, computed and stored depends on the lane; then
// each expression that does is one of vectors, and the others stay scalars, which OpenCL C spreads over the lanes where
// they meet a vector, and helpers do in a language that has no arithmetic of vectors. What lies apart in memory is put
// together from elements.

namespace lathe::backend {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

namespace {

constexpr std::int64_t kVectorBytes = 16; ///< what devices load and store at once

/// Of the first store: all others must have a type of that size.
DType storedType(const ir::LoopNest& nest, const Stmt& s)
{
    if (s->kind == StmtKind::Store)
        return nest.buffers[static_cast<std::size_t>(s->buffer)].dtype;
    for (const Stmt& inner : s->body)
        if (inner)
            return storedType(nest, inner);
    return DType::Bool;
}

/// A load, or a choice between a load and a number.
const Expr& loadOf(const Expr& e)
{
    return e->kind == ExprKind::Load ? e : e->operands[1];
}

/// Loads of a statement that come with every pass through it, and of no buffer that it stores to: under no condition,
/// or under one that chooses a number instead (of what lies past an image's edge), with the choice.
void plainLoads(const Stmt& s, std::vector<Expr>& loads, std::set<std::int32_t>& stored)
{
    if (!s)
        return;
    const std::function<void(const Expr&)> add = [&](const Expr& e) {
        const bool isChoice = e->kind == ExprKind::Select || e->kind == ExprKind::IfThenElse || e->kind == ExprKind::And
                              || e->kind == ExprKind::Or;
        const bool isPadded = ir::isPaddedLoad(e) && !ir::holdsData(e->operands[0]);
        if (e->kind == ExprKind::Load || isPadded)
            loads.push_back(e);
        if (!isChoice)
            std::ranges::for_each(e->operands, add);
    };
    if (s->kind == StmtKind::Store) {
        stored.insert(s->buffer);
        add(s->value);
    }
    // Names end at a loop that stays one, which may have no pass at all.
    const bool isWritten = s->kind == StmtKind::For && s->extent->kind == ExprKind::IntImm && s->extent->intValue > 0
                           && (s->loop == ir::LoopKind::Unrolled || s->loop == ir::LoopKind::Vectorized);
    if (s->kind == StmtKind::Block || isWritten)
        for (const Stmt& inner : s->body)
            plainLoads(inner, loads, stored);
}

} // namespace

std::optional<SourceText::Lanes> SourceText::lanesOf(const ir::StmtNode& loop) const
{
    if (m_lanes.variable.get() != nullptr || loop.extent->kind != ExprKind::IntImm
        || loop.min->kind != ExprKind::IntImm)
        return std::nullopt;
    Lanes lanes{loop.variable, 1, storedType(m_nest, loop.body[0])};
    if (lanes.dtype != DType::F32 && lanes.dtype != DType::F64 && lanes.dtype != DType::I32
        && lanes.dtype != DType::U32)
        return std::nullopt;
    for (std::int64_t width = kVectorBytes / sizeOf(lanes.dtype); width > 1 && lanes.width == 1; width /= 2)
        if (loop.extent->intValue % width == 0)
            lanes.width = width;
    if (lanes.width == 1 || !fitsLanes(loop.body[0], lanes))
        return std::nullopt;
    return lanes;
}

bool SourceText::usesLanes(const Expr& e) const
{
    return m_lanes.variable.get() != nullptr && ir::uses(e, m_lanes.variable);
}

bool SourceText::fitsLanes(const Stmt& s, const Lanes& lanes) const
{
    if (!s)
        return true;
    const auto isFree = [&](const Expr& e) { return e.get() == nullptr || !ir::uses(e, lanes.variable); };
    switch (s->kind) {
    case StmtKind::Store:
        return m_nest.buffers[static_cast<std::size_t>(s->buffer)].dtype == lanes.dtype
               && std::ranges::any_of(s->indices, [&](const Expr& e) { return ir::uses(e, lanes.variable); })
               && fitsLanes(s->value, lanes);
    case StmtKind::For:
        if (s->loop == ir::LoopKind::Vectorized || !isFree(s->min) || !isFree(s->extent))
            return false;
        break;
    case StmtKind::If:
        if (!isFree(s->condition))
            return false;
        break;
    case StmtKind::Block:
    case StmtKind::Prefetch: break;
    default: return false;
    }
    return std::ranges::all_of(s->body, [&](const Stmt& inner) { return fitsLanes(inner, lanes); });
}

bool SourceText::fitsLanes(const Expr& e, const Lanes& lanes) const
{
    if (!ir::uses(e, lanes.variable))
        return e->dtype == lanes.dtype;
    if (e->dtype != lanes.dtype)
        return false;
    if (e->kind == ExprKind::Load)
        return true; // whatever its places are
    const auto operandsFit = [&] {
        return std::ranges::all_of(e->operands, [&](const Expr& operand) { return fitsLanes(operand, lanes); });
    };
    switch (e->kind) {
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Div:
    case ExprKind::Min:
    case ExprKind::Max: return isFloat(lanes.dtype) && operandsFit();
    case ExprKind::Call:
        return isFloat(lanes.dtype) && std::ranges::count(m_language.wrongOfVectors, e->name) == 0 && operandsFit();
    case ExprKind::Select:
    case ExprKind::IfThenElse:
        return !ir::uses(e->operands[0], lanes.variable) && fitsLanes(e->operands[1], lanes)
               && fitsLanes(e->operands[2], lanes);
    default: return false;
    }
}

std::string SourceText::vectorType(DType dtype, std::int64_t width)
{
    return fmt::format("{}{}", typeText(dtype), width);
}

void SourceText::laneWise(const std::string& heading, const std::string& type, std::string_view element)
{
    std::vector<std::string> elements;
    for (std::int64_t lane = 0; lane < m_lanes.width; ++lane) {
        std::string one;
        for (const char c : element)
            one += c == '@'   ? std::string(m_language.lanes[static_cast<std::size_t>(lane)])
                   : c == '#' ? std::to_string(lane)
                              : std::string(1, c);
        elements.push_back(std::move(one));
    }
    const std::string whole = fmt::format(fmt::runtime(m_language.vectorOf), type,
                                          fmt::format("{}", fmt::join(elements, ", ")));
    m_helpers.insert({1, fmt::format("{}{} {{ return {}; }}\n", m_language.helperPrefix, heading, whole)});
}

void SourceText::noteOperator(const char* sign, bool isVectorLeft, bool isVectorRight)
{
    if (m_language.computesVectors || (!isVectorLeft && !isVectorRight))
        return;
    const std::string scalar = typeText(m_lanes.dtype), type = vectorType(m_lanes.dtype, m_lanes.width);
    laneWise(fmt::format("{} operator{}({} a, {} b)", type, sign, isVectorLeft ? type : scalar,
                         isVectorRight ? type : scalar),
             type, fmt::format("a{} {} b{}", isVectorLeft ? "@" : "", sign, isVectorRight ? "@" : ""));
}

std::string SourceText::spread(const std::string& value)
{
    const std::string type = vectorType(m_lanes.dtype, m_lanes.width);
    if (!m_language.computesVectors)
        laneWise(fmt::format("{} spread_{}({} a)", type, type, typeText(m_lanes.dtype)), type, "a");
    return fmt::format(fmt::runtime(m_language.spread), type, value);
}

std::string SourceText::vectorText(const Expr& e)
{
    if (usesLanes(e))
        return text(e);
    return spread(text(e));
}

SourceText::VectorPlace SourceText::vectorPlace(std::int32_t id, const std::vector<Expr>& indices,
                                                const Lanes& lanes) const
{
    VectorPlace place;
    const Expr offset = offsetOf(id, indices);
    const auto at = [&](std::int64_t lane) {
        return ir::simplify(ir::substitute(offset, {{lanes.variable.get(), ir::intImm(lane)}}), m_ranges);
    };
    place.first = at(0);
    const ir::LinearForm first = ir::linearForm(place.first, m_ranges);
    // By lane rather than by the lane's coefficient: quotients and remainders that hold the lane come apart only where
    // it is a number.
    place.isContiguous = true;
    for (std::int64_t lane = 1; lane < lanes.width && place.isContiguous; ++lane) {
        ir::LinearForm apart = ir::linearForm(at(lane), m_ranges);
        apart.add(first, -1);
        place.isContiguous = apart.terms.empty() && apart.constant == lane;
    }
    place.isAligned = first.constant % lanes.width == 0
                      && std::ranges::all_of(first.terms, [&lanes](const ir::LinearForm::Term& term) {
                             return term.coefficient % lanes.width == 0;
                         });
    return place;
}

std::string SourceText::vectorAt(std::int32_t id, const Expr& first, bool isConst)
{
    const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
    const std::string& name = m_bufferNames[static_cast<std::size_t>(id)];
    std::string space;
    if (buffer.scope == Scope::Parameter || buffer.scope == Scope::Team)
        space = std::string(m_language.globalPointer) + (isConst && buffer.readOnly ? "const " : "");
    else if (buffer.scope == Scope::Shared)
        space = m_language.sharedPointer;
    return fmt::format("*({}{}*)({} + {})", space, vectorType(buffer.dtype, m_lanes.width), name, offsetText(first));
}

std::string SourceText::vectorLoad(const Expr& e)
{
    const VectorPlace place = vectorPlace(e->source, e->operands, m_lanes);
    const std::string& name = m_bufferNames[static_cast<std::size_t>(e->source)];
    const bool isRegister = m_nest.buffers[static_cast<std::size_t>(e->source)].scope == Scope::Register;
    if (place.isContiguous && isRegister && registerWidth(e->source) == m_lanes.width && place.isAligned)
        return fmt::format("{}[{}]", name,
                           text(ir::simplify(ir::floorDiv(place.first, ir::intImm(m_lanes.width)), m_ranges)));
    const std::string type = vectorType(m_lanes.dtype, m_lanes.width);
    if (place.isContiguous && !isRegister && place.isAligned)
        return "(" + vectorAt(e->source, place.first, true) + ")";
    if (place.isContiguous && !isRegister) {
        if (!m_language.computesVectors)
            laneWise(fmt::format("{} load_{}(const {} *a)", type, type, typeText(m_lanes.dtype)), type, "a[#]");
        return fmt::format(fmt::runtime(m_language.loadVector), type, m_lanes.width,
                           fmt::format("{} + {}", name, offsetText(place.first)));
    }
    const Lanes lanes = m_lanes;
    std::vector<std::string> elements;
    elements.reserve(static_cast<std::size_t>(lanes.width));
    m_lanes = {};
    for (std::int64_t lane = 0; lane < lanes.width; ++lane)
        elements.push_back(text(ir::simplify(ir::substitute(e, {{lanes.variable.get(), ir::intImm(lane)}}), m_ranges)));
    m_lanes = lanes;
    return fmt::format(fmt::runtime(m_language.vectorOf), type, fmt::format("{}", fmt::join(elements, ", ")));
}

void SourceText::noteVectorStore()
{
    const std::string type = vectorType(m_lanes.dtype, m_lanes.width);
    std::string body;
    for (std::int64_t lane = 0; lane < m_lanes.width; ++lane)
        body += fmt::format(" b[{}] = a{};", lane, m_language.lanes[static_cast<std::size_t>(lane)]);
    m_helpers.insert({1, fmt::format("{}void store_{}({} a, {} *b) {{{} }}\n", m_language.helperPrefix, type, type,
                                     typeText(m_lanes.dtype), body)});
}

std::vector<std::string> SourceText::vectorStore(const ir::StmtNode& store)
{
    const VectorPlace place = vectorPlace(store.buffer, store.indices, m_lanes);
    const std::string& name = m_bufferNames[static_cast<std::size_t>(store.buffer)];
    const bool isRegister = m_nest.buffers[static_cast<std::size_t>(store.buffer)].scope == Scope::Register;
    const std::string value = vectorText(store.value);
    if (place.isContiguous && isRegister && registerWidth(store.buffer) == m_lanes.width && place.isAligned)
        return {fmt::format("{}[{}] = {};", name,
                            text(ir::simplify(ir::floorDiv(place.first, ir::intImm(m_lanes.width)), m_ranges)), value)};
    if (place.isContiguous && !isRegister) {
        if (place.isAligned)
            return {fmt::format("{} = {};", vectorAt(store.buffer, place.first, false), value)};
        const std::string type = vectorType(m_lanes.dtype, m_lanes.width);
        if (!m_language.computesVectors)
            noteVectorStore();
        return {fmt::format(fmt::runtime(m_language.storeVector), type, m_lanes.width,
                            fmt::format("{} + {}", name, offsetText(place.first)), value)};
    }
    std::set<std::string> taken = m_takenHere;
    const std::string whole = identifier("lanes", taken);
    std::vector<std::string> lines = {
        fmt::format("{{ const {} {} = {};", vectorType(m_lanes.dtype, m_lanes.width), whole, value)};
    const Lanes lanes = m_lanes;
    m_lanes = {};
    for (std::int64_t lane = 0; lane < lanes.width; ++lane) {
        std::vector<Expr> indices;
        indices.reserve(store.indices.size());
        for (const Expr& index : store.indices)
            indices.push_back(ir::substitute(index, {{lanes.variable.get(), ir::intImm(lane)}}));
        lines.push_back(fmt::format("  {} = {}{};", element(store.buffer, indices), whole,
                                    m_language.lanes[static_cast<std::size_t>(lane)]));
    }
    m_lanes = lanes;
    lines.back() += " }";
    return lines;
}

void SourceText::loadTogether(const ir::StmtNode& loop)
{
    const std::int64_t width = loop.extent->intValue;
    if (m_lanes.variable.get() != nullptr || loop.min->intValue != 0 || (width != 2 && width != 4))
        return;
    std::vector<Expr> loads;
    std::set<std::int32_t> stored;
    plainLoads(loop.body[0], loads, stored);
    for (const Expr& value : loads) {
        const Expr& load = loadOf(value);
        const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(load->source)];
        const bool isMemory = buffer.scope == Scope::Parameter || buffer.scope == Scope::Team
                              || buffer.scope == Scope::Shared;
        const bool hasVectors = buffer.dtype == DType::F32 || buffer.dtype == DType::I32 || buffer.dtype == DType::U32;
        const auto isUnknown = [&](const ir::Node* variable) {
            return variable != loop.variable.get() && !m_names.contains(variable);
        };
        const bool isChosen = value->kind != ExprKind::Load;
        if (!isMemory || !hasVectors || stored.contains(load->source) || width * sizeOf(buffer.dtype) > kVectorBytes
            || ir::usesAny(value, isUnknown) || (isChosen && ir::uses(value->operands[0], loop.variable)))
            continue;
        const Lanes steps{loop.variable, width, buffer.dtype};
        const VectorPlace place = vectorPlace(load->source, load->operands, steps);
        if (!place.isContiguous || !place.isAligned)
            continue;
        m_lanes = {{}, width, buffer.dtype};
        std::string whole = fmt::format("({})", vectorAt(load->source, place.first, true));
        if (isChosen)
            whole = fmt::format("({} ? {} : {})", text(ir::simplify(value->operands[0], m_ranges)), whole,
                                spread(text(value->operands[2])));
        std::set<std::int32_t> buffers; // that it reads, also for where it lies
        ir::visit(load, [&buffers](const Expr& e) {
            if (e->kind == ExprKind::Load)
                buffers.insert(e->source);
        });
        whole = m_scopes.value(vectorType(buffer.dtype, width), whole, buffers);
        m_lanes = {};
        for (std::int64_t step = 0; step < width; ++step) {
            const Expr one = ir::simplify(ir::substitute(value, {{loop.variable.get(), ir::intImm(step)}}), m_ranges);
            ++m_within;
            m_scopes.nameValue(typeText(buffer.dtype), plainText(one),
                               whole + std::string(m_language.lanes[static_cast<std::size_t>(step)]), buffers);
            --m_within;
        }
    }
}

std::int64_t SourceText::registerWidth(std::int32_t buffer) const
{
    const auto found = m_registerWidths.find(buffer);
    return found == m_registerWidths.end() ? 1 : found->second;
}

void SourceText::findVectorRegisters(const Stmt& body)
{
    m_registerWidths.clear();
    noteAccesses(body, Lanes{});
}

void SourceText::noteAccesses(const Stmt& s, const Lanes& lanes)
{
    if (!s)
        return;
    const auto note = [&](std::int32_t id, const std::vector<Expr>& indices) {
        const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
        if (buffer.scope != Scope::Register)
            return;
        std::int64_t width = 1;
        if (lanes.variable) {
            const VectorPlace place = vectorPlace(id, indices, lanes);
            if (place.isContiguous && place.isAligned)
                width = lanes.width;
        }
        const auto [known, isNew] = m_registerWidths.emplace(id, width);
        if (known->second != width)
            known->second = 1;
    };
    if (s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle)
        note(s->buffer, s->indices);
    const auto noteLoads = [&](const Expr& e) {
        ir::visit(e, [&](const Expr& inner) {
            if (inner->kind == ExprKind::Load)
                note(inner->source, inner->operands);
        });
    };
    for (const Expr* const e : {&s->min, &s->extent, &s->value, &s->condition})
        if (*e)
            noteLoads(*e);
    std::ranges::for_each(s->indices, noteLoads);
    Lanes inside = lanes;
    if (s->kind == StmtKind::For && s->loop == ir::LoopKind::Vectorized)
        inside = lanesOf(*s).value_or(Lanes{});
    for (const Stmt& inner : s->body)
        noteAccesses(inner, inside);
}

} // namespace lathe::backend
