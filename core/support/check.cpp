#include "core/support/check.h"

#include <cstdio>
#include <cstdlib>

namespace lathe::detail {

CheckFailure::CheckFailure(const char* condition, const char* file, int line)
{
    m_text << file << ':' << line << ": check failed: " << condition << ' ';
}

CheckFailure::~CheckFailure()
{
    std::fprintf(stderr, "%s\n", m_text.str().c_str());
    std::abort();
}

} // namespace lathe::detail
