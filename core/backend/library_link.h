#pragma once

#include "core/backend/codegen.h"
#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::backend {

/// A way to run a linker that takes the options of GNU ld. One object for one link.
class Linker
{
public:
    virtual ~Linker() = default;
    /// The path of a file with these bytes for the linker to read, which is there as long as this object is. Errors:
    /// StoreFailed.
    virtual Result<std::string> hold(const char* name, std::span<const std::byte> bytes) = 0;
    /// `arguments` are without the program's name. Errors: BuildFailed with the linker's words, among them the name of
    /// an undefined symbol; NotFound where there is none.
    virtual Result<> run(const std::vector<std::string>& arguments) = 0;
};

/// Links a deploy library at request.output. What is said to the linker is the same whichever it is: options that GNU
/// ld has since 2.38, and LLD.
///
/// @param machine  whose library it is, as Target::machine() names it
/// Errors: those of the linker and of section_object.h; NotFound for an archive or a library of the machine's C library
/// that is not there, StoreFailed if the disk has no room.
Result<> linkLibrary(const LibraryRequest& request, const std::string& machine, Linker& linker);

/// Of every shared object that is made: nothing undefined, nothing bound late, no executable stack.
std::vector<std::string> sharedObjectArguments();

/// Exports these symbols and no others.
std::string versionScript(const std::vector<std::string>& exports);

} // namespace lathe::backend
