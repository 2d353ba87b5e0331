#pragma once

#include "plugins/sim/program.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lathe::sim {

/// A checked program: every index in it points where it may.
class Program
{
public:
    /// Empty if it is right, else what is wrong with the bytes.
    std::string read(const void* bytes, std::size_t size);
    const std::vector<Kernel>& kernels() const { return m_kernels; }
    const Buffer* buffers(const Kernel& kernel) const { return m_buffers.data() + kernel.firstBuffer; }
    /// Bytes of the kernel's parameter; 0 if it has none of that number.
    std::size_t parameterBytes(const Kernel& kernel, std::uint32_t parameter) const;

    const Launch* launches(const Kernel& kernel) const { return m_launches.data() + kernel.firstLaunch; }
    const char* text(std::uint32_t at) const { return m_texts.data() + at; }

    /// Runs all phases, or all launches. Empty if it went well, else which access left its buffer, or what a device
    /// would have done by chance only (LaunchMachine).
    std::string run(const Kernel& kernel, void* const* parameters) const;

private:
    std::string checkKernels() const;
    std::string checkNodes() const;

    std::vector<Kernel> m_kernels;
    std::vector<Launch> m_launches;
    std::vector<char> m_texts;
    std::vector<Buffer> m_buffers;
    std::vector<Node> m_nodes;
    std::vector<std::int32_t> m_children;
};

} // namespace lathe::sim
