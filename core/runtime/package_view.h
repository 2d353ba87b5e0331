#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lathe::runtime {

/// One program of a package, where it lies.
struct ProgramView
{
    std::string_view source; ///< what the driver of any such device compiles: OpenCL C, PTX
    std::string_view binary; ///< what a compiler made of it; empty: there is none
    std::string_view madeFor; ///< what `binary` is for, in words of the back end: a device, an architecture
    std::string_view symbols; ///< of the launches in it, one a line
};

/// The next line of `text`, which is then gone from it. False: there is none.
bool takeLine(std::string_view& text, std::string_view& line);

/// An artifact of launches, and what libraries have of them: a package is programs in a row of bytes whose length is a
/// multiple of 8, so that packages can stand one behind the other:
///
///     "LATHECL2", bytes of the package [u64], programs [u64],
///     for each program source, binary, madeFor, symbols: bytes [u64], these, zeros up to a multiple of 8
///
/// All numbers are little endian. Whatever the bytes are, nothing outside of them is read.
class PackageReader
{
public:
    /// Of the package at the beginning of `bytes`.
    explicit PackageReader(std::string_view bytes);
    /// That no program was read which was not whole, and that all were read if next() says so.
    bool isGood() const { return m_isGood; }
    /// False: that was the last one, or the package is damaged.
    bool next(ProgramView& program);
    std::uint64_t programs() const { return m_programs; }
    /// Of the whole package, at most as many as there are; 0: damaged.
    std::size_t bytes() const { return m_bytes; }

private:
    bool take(std::string_view& text);

    std::string_view m_rest; ///< of the package
    std::size_t m_bytes = 0;
    std::uint64_t m_programs = 0, m_read = 0;
    bool m_isGood = false;
};

/// Of the package of these programs.
std::size_t packageBytes(const ProgramView* programs, std::size_t count);
/// Into packageBytes(programs, count) bytes.
void writePackage(const ProgramView* programs, std::size_t count, std::byte* to);

} // namespace lathe::runtime
