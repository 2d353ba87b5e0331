#include "plugins/cuda/codegen/spills.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace lathe::cuda {

namespace {

/// The number that ends before `end`.
std::int64_t numberBefore(std::string_view text, std::size_t end)
{
    while (end > 0 && text[end - 1] == ' ')
        --end;
    std::size_t begin = end;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9')
        --begin;
    std::int64_t number = 0;
    std::from_chars(text.data() + begin, text.data() + end, number);
    return number;
}

} // namespace

int registersIn(std::string_view log)
{
    constexpr std::string_view kRegisters = " registers";
    int most = 0;
    for (std::size_t at = log.find(kRegisters); at != std::string_view::npos; at = log.find(kRegisters, at + 1))
        most = std::max(most, static_cast<int>(numberBefore(log, at)));
    return most;
}

std::int64_t spilledBytesIn(std::string_view log)
{
    std::int64_t bytes = 0;
    for (const std::string_view word : {" bytes spill stores", " bytes spill loads"})
        for (std::size_t at = log.find(word); at != std::string_view::npos; at = log.find(word, at + 1))
            bytes += numberBefore(log, at);
    return bytes;
}

SpilledBytes spillsOf(std::string_view log)
{
    constexpr std::string_view kFunction = "Compiling entry function '";
    SpilledBytes spills;
    for (std::size_t at = log.find(kFunction); at != std::string_view::npos;) {
        const std::size_t first = at + kFunction.size(), next = log.find(kFunction, first);
        const std::string_view own = log.substr(first, next == std::string_view::npos ? next : next - first);
        if (const std::int64_t bytes = spilledBytesIn(own); bytes > 0)
            spills.emplace(own.substr(0, own.find('\'')), bytes);
        at = next;
    }
    return spills;
}

std::string withAllRegisters(std::string source, const SpilledBytes& kernels)
{
    for (const auto& [name, spilled] : kernels) {
        const std::size_t end = source.find(")\n" + name + '(');
        const std::size_t bounds = end == std::string::npos ? end : source.rfind("__launch_bounds__(", end);
        if (bounds == std::string::npos || source.find(')', bounds) != end)
            continue;
        const std::size_t count = std::min(source.find(',', bounds), end);
        source.replace(count, end - count, ", 1");
    }
    return source;
}

} // namespace lathe::cuda
