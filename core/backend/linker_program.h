#pragma once

#include "core/backend/library_link.h"
#include "core/support/result.h"

#include <filesystem>
#include <memory>
#include <string>

namespace lathe::backend {

/// A linker of this machine's, run as a program of its own: for installations without a back end that has one in it.
///
/// It is what LATHE_LINKER says, a file or a name in PATH, and nothing else if that is set. Else
/// PREFIX/lib/lathe/linker/ld, if the library is for this machine (packaging/bundle brings one along); else the first
/// in PATH of ld.lld-19, MACHINE-linux-gnu-ld, ld (for this machine) and ld.lld. A plain ld.lld comes last: one of
/// before LLVM 17 puts gigabytes of weights between code and what the code refers to. Programs that others may have
/// changed are passed over (core/support/trusted_file.h).
///
/// @param machine  whose libraries it is to link, as Target::machine() names it
/// @param output   of the link. What hold() is given lies beside it, under names that begin like its own, so that who
///                 removes what a killed linker left removes that as well.
/// Errors: NotFound, with the package to install; Incompatible where all that there is may have been changed by others.
/// What it made is for one thread and one link. Nothing ends it but its own end and that of this thread.
Result<std::unique_ptr<Linker>> findLinkerProgram(const std::string& machine, const std::filesystem::path& output);

} // namespace lathe::backend
