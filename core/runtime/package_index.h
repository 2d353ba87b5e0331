#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "core/runtime/image.h"
#include "core/runtime/package_view.h"
#include "core/runtime/status.h"

#include <cstddef>
#include <string_view>

namespace lathe::runtime {

/// The programs in the code of a library, and which of them has which launch. What a driver makes of program p and of
/// launch s, a back end keeps in arrays of programs() and of launches(). Unchanged behind load(): any thread.
class PackageIndex
{
public:
    /// In bytes, without the zero that a driver wants behind it.
    static constexpr std::size_t kLongestSymbol = 1023;

    PackageIndex() = default;
    ~PackageIndex();
    PackageIndex(const PackageIndex&) = delete;
    PackageIndex& operator=(const PackageIndex&) = delete;

    /// Once.
    /// @param code     packages one behind the other, which outlive this; checked as a file would be
    /// @param backEnd  in the words of refusals: "CUDA"
    /// Errors: InvalidArgument, if the packages do not hold together or two programs that differ have a launch of one
    /// name; NoMemory.
    Status load(std::string_view code, const char* backEnd, ErrorText& error);

    std::size_t programs() const { return m_programCount; }
    const ProgramView& program(std::size_t p) const { return m_programs[p]; }
    std::size_t launches() const { return m_launchCount; }
    /// launches(), if there is none of that name.
    std::size_t find(std::string_view symbol) const;
    std::size_t programOf(std::size_t launch) const { return m_launches[launch].program; }
    std::string_view symbol(std::size_t launch) const { return m_launches[launch].symbol; }

private:
    struct Launch
    {
        std::string_view symbol;
        std::size_t program = 0;
    };
    static int compare(const void* one, const void* other);

    ProgramView* m_programs = nullptr;
    std::size_t m_programCount = 0;
    Launch* m_launches = nullptr; ///< sorted by symbol
    std::size_t m_launchCount = 0;
};

} // namespace lathe::runtime
