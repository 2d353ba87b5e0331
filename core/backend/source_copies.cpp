#include "core/backend/source_text.h"

#include <fmt/format.h>

#include <bit>

namespace lathe::backend {

std::string SourceText::copyLine(const ir::StmtNode& s)
{
    const auto need = [this](std::size_t helper) {
        m_helpers.insert({0, std::string(m_language.copyHelpers[helper])});
    };
    if (s.kind != ir::StmtKind::AsyncCopy) {
        need(3);
        return fmt::format(
            fmt::runtime(s.kind == ir::StmtKind::AsyncWait ? m_language.waitForCopies : m_language.commitCopies),
            s.count);
    }
    const std::int64_t bytes = s.count * sizeOf(m_nest.buffers[static_cast<std::size_t>(s.buffer)].dtype);
    need(static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(bytes))) - 2);
    return fmt::format(fmt::runtime(m_language.copy), bytes, '&' + element(s.buffer, s.indices),
                       '&' + element(s.value->source, s.value->operands));
}

} // namespace lathe::backend
