#include "tests/cuda_driver/ptx/findings.h"

namespace lathe::ptx {

const char* nameOf(Finding::Kind kind)
{
    switch (kind) {
    case Finding::Kind::Race: return "race";
    case Finding::Kind::UninitializedRead: return "uninitialized read";
    case Finding::Kind::DivergentBarrier: return "divergent barrier";
    case Finding::Kind::DivergentShuffle: return "divergent shuffle";
    case Finding::Kind::AsyncCopy: return "asynchronous copy";
    }
    return "?";
}

Finding* Findings::add(Finding::Kind kind, unsigned line, unsigned otherLine)
{
    const auto [at, isNew] = m_known.try_emplace({kind, line, otherLine}, m_all.size());
    if (!isNew) {
        if (at->second < m_all.size())
            ++m_all[at->second].count;
        return nullptr;
    }
    if (m_all.size() >= kMost) {
        at->second = kMost;
        return nullptr;
    }
    m_all.push_back({kind, line, otherLine, 1, {}});
    return &m_all.back();
}

void Findings::take(const Findings& others)
{
    for (const Finding& finding : others.all())
        if (Finding* const added = add(finding.kind, finding.line, finding.otherLine)) {
            added->text = finding.text;
            added->count = finding.count;
        }
}

} // namespace lathe::ptx
