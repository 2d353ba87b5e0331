#include "plugins/cpu/codegen/phase_key.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

namespace lathe::cpu {

namespace {

/// Writes a phase as numbers: variables and buffers by the order in which they are met.
class Writer
{
public:
    Writer(const ir::LoopNest& nest, const ir::ScratchLayout& scratch)
        : m_nest(nest)
        , m_scratch(scratch)
    {
    }

    std::string write(std::size_t phase)
    {
        put(m_scratch.teamBytes);
        statement(m_nest.phases[phase]);
        return std::move(m_text);
    }

private:
    void put(std::int64_t value)
    {
        for (int byte = 0; byte < 8; ++byte)
            m_text.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte)));
    }

    void put(const std::vector<std::int64_t>& values)
    {
        put(static_cast<std::int64_t>(values.size()));
        for (const std::int64_t v : values)
            put(v);
    }

    void put(const std::string& text)
    {
        put(static_cast<std::int64_t>(text.size()));
        m_text += text;
    }

    void variable(const ir::Node* v)
    {
        put(m_variables.try_emplace(v, static_cast<std::int64_t>(m_variables.size())).first->second);
    }

    void buffer(std::int32_t b)
    {
        const auto [place, isNew] = m_buffers.try_emplace(b, static_cast<std::int64_t>(m_buffers.size()));
        put(place->second);
        if (!isNew || b < 0)
            return;
        const ir::Buffer& known = m_nest.buffers[static_cast<std::size_t>(b)];
        put(static_cast<std::int64_t>(known.dtype));
        put(static_cast<std::int64_t>(known.scope));
        put(known.shape);
        put(known.strides);
        put((known.readOnly ? 1 : 0) + (known.constant ? 2 : 0));
        put(m_scratch.offsets[static_cast<std::size_t>(b)]);
        put(std::find(m_nest.parameters.begin(), m_nest.parameters.end(), b) - m_nest.parameters.begin());
    }

    void expression(const ir::Expr& e)
    {
        if (e.get() == nullptr) {
            put(-1);
            return;
        }
        put(static_cast<std::int64_t>(e->kind));
        put(static_cast<std::int64_t>(e->dtype));
        if (e->kind == ir::ExprKind::Var) {
            variable(e.get());
            return;
        }
        put(static_cast<std::int64_t>(e->combiner));
        put(e->intValue);
        put(std::bit_cast<std::int64_t>(e->floatValue));
        if (e->kind == ir::ExprKind::Load)
            buffer(e->source);
        put(e->output);
        put(e->name);
        list(e->operands);
        list(e->axes);
    }

    void list(const std::vector<ir::Expr>& all)
    {
        put(static_cast<std::int64_t>(all.size()));
        for (const ir::Expr& e : all)
            expression(e);
    }

    void statement(const ir::Stmt& s)
    {
        if (!s) {
            put(-1);
            return;
        }
        put(static_cast<std::int64_t>(s->kind));
        put(static_cast<std::int64_t>(s->loop));
        buffer(s->buffer);
        put(s->locality);
        put(s->unrollHint);
        for (const ir::Expr* e : {&s->variable, &s->min, &s->extent, &s->value, &s->condition})
            expression(*e);
        list(s->indices);
        put(static_cast<std::int64_t>(s->body.size()));
        for (const ir::Stmt& inner : s->body)
            statement(inner);
    }

    const ir::LoopNest& m_nest;
    const ir::ScratchLayout& m_scratch;
    std::string m_text;
    std::unordered_map<const ir::Node*, std::int64_t> m_variables;
    std::unordered_map<std::int32_t, std::int64_t> m_buffers;
};

} // namespace

Hash128 phaseKey(const ir::LoopNest& nest, const ir::ScratchLayout& scratch, std::size_t phase)
{
    return contentHash(std::string_view(Writer(nest, scratch).write(phase)));
}

} // namespace lathe::cpu
