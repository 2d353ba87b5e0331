#pragma once

#include "core/backend/codegen.h"
#include "core/runtime/kernel_abi.h"
#include "core/support/result.h"

#include <memory>
#include <string>
#include <vector>

namespace lathe::test {

/// Kernels of one artifact, loaded into this process.
class LoadedKernels
{
public:
    static Result<LoadedKernels> load(const backend::Artifact& artifact);
    LoadedKernels(LoadedKernels&&) noexcept = default;
    LoadedKernels& operator=(LoadedKernels&&) noexcept = default;

    /// Runs all phases of one kernel, each for every part in turn. Returns the first code that is not 0.
    int run(std::size_t kernel, const std::vector<void*>& tensors, unsigned parts = 1) const;
    const std::vector<LathePhase>& phases(std::size_t kernel) const { return m_kernels[kernel].phases; }

private:
    struct Kernel
    {
        std::vector<LathePhase> phases;
        std::int64_t teamBytes = 0;
        std::int64_t partBytes = 0;
    };
    LoadedKernels() = default;
    std::shared_ptr<void> m_handle;
    std::vector<Kernel> m_kernels;
};

/// Memory whose last byte touches a page that cannot be accessed; the page before it cannot either. The start is
/// aligned to 64 bytes, so up to 63 bytes before the guard page are checked by a pattern instead.
class GuardedBuffer
{
public:
    explicit GuardedBuffer(std::size_t bytes);
    GuardedBuffer(GuardedBuffer&& other) noexcept;
    GuardedBuffer& operator=(GuardedBuffer&&) = delete;
    ~GuardedBuffer();
    void* data() const { return m_data; }
    std::size_t size() const { return m_bytes; }
    bool tailIntact() const; ///< nothing was written between the end and the guard page
    void protectWrites() const; ///< from here on a write faults

private:
    void* m_mapping = nullptr;
    std::size_t m_mapped = 0;
    unsigned char* m_data = nullptr;
    std::size_t m_bytes = 0;
    std::size_t m_tail = 0;
};

} // namespace lathe::test
