#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe::cpu {

/// A buffer of a kernel. Guarded: its end lies against inaccessible memory, but for what alignment leaves, which is
/// filled with a pattern that run() looks at. Before its start lies the rest of a page (of 2 MiB for buffers of 1 MiB
/// and more, so that kernels are timed on pages of the size that a library gives them), and then inaccessible memory:
/// of that rest the last 64 KiB hold the pattern; what is written farther before the start is not noticed, nor is what
/// is only read there.
class Buffer
{
public:
    /// Null if there is no memory. What is in it is not defined: trials follow one another with buffers of the same
    /// sizes, and a good part of a short one's time would go into clearing pages, so some are kept for those that come
    /// next.
    static Buffer* create(std::size_t bytes, bool guarded);
    static void destroy(Buffer* buffer);
    /// By the pointer that create()'s data() gave out; null if there is none.
    static Buffer* find(const void* data);

    void* data() const { return m_data; }
    std::size_t bytes() const { return m_bytes; }
    /// False if something was written just before or behind it. The pattern is put back.
    bool marginsIntact();

private:
    Buffer() = default;
    ~Buffer();
    struct Spares;
    static Spares& spares(); ///< under the lock of all buffers
    static Buffer* takeSpare(std::size_t bytes, bool guarded);
    void fillMargins();
    unsigned char* m_region = nullptr;
    std::size_t m_regionBytes = 0;
    unsigned char* m_low = nullptr; ///< accessible bytes: [m_low, m_high)
    unsigned char* m_high = nullptr;
    unsigned char* m_data = nullptr;
    std::size_t m_bytes = 0;
    bool m_guarded = false;
};

/// What runs now, for the sentence that a crashing kernel leaves on standard error.
struct RunningKernel
{
    const char* name = "";
    const char* const* parameterNames = nullptr;
    void* const* buffers = nullptr;
    std::uint32_t bufferCount = 0;
};
void setRunningKernel(const RunningKernel& kernel);

/// On SIGSEGV and SIGBUS: says which buffer was left, by how much, then lets the signal end the process.
void installCrashReport();

} // namespace lathe::cpu
