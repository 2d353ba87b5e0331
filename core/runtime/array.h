#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace lathe::runtime {

/// `count` value-initialized objects, or null if there is no memory. The C++ library's new would bring exceptions
/// along.
template<typename T>
T* makeArray(std::size_t count)
{
    void* memory = nullptr;
    if (count > SIZE_MAX / 2 / sizeof(T)
        || posix_memalign(&memory, alignof(T) < 16 ? 16 : alignof(T), (count > 0 ? count : 1) * sizeof(T)) != 0)
        return nullptr;
    T* const first = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i)
        new (first + i) T();
    return first;
}

/// Null is fine.
template<typename T>
void freeArray(T* first, std::size_t count)
{
    if (first == nullptr)
        return;
    for (std::size_t i = count; i > 0; --i)
        first[i - 1].~T();
    std::free(first);
}

} // namespace lathe::runtime
