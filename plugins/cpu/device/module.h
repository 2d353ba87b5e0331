#pragma once

#include "core/runtime/device_abi.h"
#include "core/runtime/kernel_abi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe::cpu {

class Buffer;

struct Kernel
{
    std::string name;
    std::vector<LathePhase> phases;
    std::size_t teamScratchBytes = 0;
    std::size_t partScratchBytes = 0;
    std::vector<std::string> parameters;
    std::vector<const char*> parameterNames; ///< of `parameters`
    std::vector<std::size_t> parameterBytes;
};

/// A shared object, loaded from memory.
class Module
{
public:
    ~Module();
    Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// 0, or a failure with its sentence.
    int load(const void* artifact, std::size_t bytes, const char* descriptor, LatheDeviceError* error);
    const std::vector<Kernel>& kernels() const { return m_kernels; }

private:
    int readDescriptor(const char* text, LatheDeviceError* error);
    int m_file = -1; ///< kept open: its number is the library's name for the loader, and must not be given out again
    void* m_library = nullptr;
    std::vector<Kernel> m_kernels;
    std::vector<std::vector<std::string>> m_symbols;
};

} // namespace lathe::cpu
