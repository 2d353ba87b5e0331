#include "tests/cuda_driver/ptx/processor.h"

#include <algorithm>
#include <cstdlib>

namespace lathe::ptx {

Generation thisProcessor()
{
    static const Generation found = [] {
        int best = 0;
#if defined(__x86_64__)
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                          && __builtin_cpu_supports("bmi2");
        const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                            && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
        best = avx512 ? 2 : avx2 ? 1 : 0;
#endif
        if (const char* const asked = std::getenv("LATHE_PTX_GENERATION"))
            best = std::min(best, std::max(0, std::atoi(asked)));
        return static_cast<Generation>(best);
    }();
    return found;
}

} // namespace lathe::ptx
