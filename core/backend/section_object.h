#pragma once

#include "core/backend/codegen.h"
#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::backend {

/// A relocatable ELF object whose read-only sections are the given bytes, each between the symbols NAME and NAME_end;
/// sections in files are left out. Written directly: a hundred megabytes of weights as constants of a module would take
/// the compiler minutes.
///
/// @param machine  as Target::machine() names it
/// Errors: Unsupported for another machine than "x86_64" and "aarch64"; InvalidArgument for an alignment that is no
/// power of two. Threads: any.
Result<std::vector<std::byte>> makeSectionObject(std::span<const BinarySection> sections, const std::string& machine);

/// The same for one section in a file, which becomes the object. On x86-64 it is marked as large: the linker puts it
/// where code reaches everything else, and nothing may reach it but by its full address. Errors: as above, StoreFailed,
/// Unsupported if it is larger than code for the machine can have beside itself.
Result<> completeSectionFile(const BinarySection& section, const std::string& machine);

} // namespace lathe::backend
