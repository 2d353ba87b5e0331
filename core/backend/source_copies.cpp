#include "core/backend/source_text.h"
#include "core/ir/async_copy.h"

#include <fmt/format.h>

#include <bit>

namespace lathe::backend {

namespace {

constexpr std::size_t kSizes = 3; ///< of 4, 8, 16 bytes

/// Its place in the list of sizes.
std::size_t numberOf(std::int64_t bytes)
{
    return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(bytes))) - 2;
}

} // namespace

std::string SourceText::copyLine(const ir::StmtNode& s)
{
    if (s.kind != ir::StmtKind::AsyncCopy) {
        m_helpers.insert({0, m_language.copyHelpers[2 * kSizes]});
        return fmt::format(
            fmt::runtime(s.kind == ir::StmtKind::AsyncWait ? m_language.waitForCopies : m_language.commitCopies),
            s.count);
    }
    const std::int64_t bytes = s.count * sizeOf(m_nest.buffers[static_cast<std::size_t>(s.buffer)].dtype);
    m_helpers.insert({0, m_language.copyHelpers[numberOf(bytes)]});
    return fmt::format(fmt::runtime(m_language.copy), bytes, '&' + element(s.buffer, s.indices),
                       '&' + element(s.value->source, s.value->operands));
}

std::string SourceText::copyOrZeroLine(const ir::StmtNode& branch)
{
    const auto [copy, isWhereItHolds] = ir::copyOrZero(branch);
    if (copy == nullptr || m_language.copyOrZero.empty())
        return {};
    const std::int64_t bytes = copy->count * sizeOf(m_nest.buffers[static_cast<std::size_t>(copy->buffer)].dtype);
    m_helpers.insert({0, m_language.copyHelpers[kSizes + numberOf(bytes)]});
    const std::string condition = text(branch.condition);
    return fmt::format(fmt::runtime(m_language.copyOrZero), bytes, '&' + element(copy->buffer, copy->indices),
                       '&' + element(copy->value->source, copy->value->operands),
                       isWhereItHolds ? condition : "!(" + condition + ')');
}

} // namespace lathe::backend
