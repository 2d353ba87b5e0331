#pragma once

namespace lathe::cpu {

/// Words of LLVM's command line by which all code is generated here. They are global to the process, and LLD forgets
/// them when it begins a link: runLinker() says them again.
inline constexpr const char* kLlvmOptions[] = {
    // Addresses are emitted as one base per loop and constant displacements: there is nothing left to reduce, and
    // looking for it
    // takes a seventh to a third of code generation on unrolled bodies.
    "-disable-lsr",
};

} // namespace lathe::cpu
