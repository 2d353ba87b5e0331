#pragma once

#include "core/backend/codegen.h"
#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::cpu {

/// A relocatable ELF object whose read-only sections are the given bytes, each between the symbols NAME and NAME_end;
/// sections in files are left out. Written directly: a hundred megabytes of weights as constants of a module would take
/// the compiler minutes. Errors: Unsupported for a triple other than x86-64 and aarch64 (64-bit, little endian);
/// InvalidArgument for an alignment that is no power of two.
Result<std::vector<std::byte>> makeSectionObject(std::span<const backend::BinarySection> sections,
                                                 const std::string& triple);

/// The same for one section in a file, which becomes the object. On x86-64 it is marked as large: the linker puts it
/// where code reaches everything else, and nothing may reach it but by its full address. Errors: as above, StoreFailed,
/// Unsupported if it is larger than code for the triple can have beside itself.
Result<> completeSectionFile(const backend::BinarySection& section, const std::string& triple);

} // namespace lathe::cpu
