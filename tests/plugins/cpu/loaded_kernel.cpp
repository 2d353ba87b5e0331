#include "tests/plugins/cpu/loaded_kernel.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace lathe::test {

namespace {

constexpr std::size_t kLine = 64;
constexpr unsigned char kPattern = 0xa5;

std::shared_ptr<void> scratch(std::int64_t bytes)
{
    const std::size_t size = (static_cast<std::size_t>(bytes) + kLine) / kLine * kLine;
    return {std::aligned_alloc(kLine, size), std::free};
}

} // namespace

Result<LoadedKernels> LoadedKernels::load(const backend::Artifact& artifact)
{
    const int file = memfd_create("artifact", MFD_CLOEXEC);
    if (file < 0
        || write(file, artifact.bytes.data(), artifact.bytes.size()) != static_cast<ssize_t>(artifact.bytes.size()))
        return makeError(Errc::StoreFailed, "no memory file");
    void* handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        close(file);
        return makeError(Errc::BuildFailed, dlerror());
    }
    LoadedKernels loaded;
    // The descriptor stays open with the object: the loader knows objects by their file, and numbers are used again.
    loaded.m_handle = std::shared_ptr<void>(handle, [file](void* h) {
        dlclose(h);
        close(file);
    });
    for (const KernelInfo& info : artifact.descriptor.kernels) {
        Kernel kernel;
        kernel.teamBytes = info.teamScratchBytes;
        kernel.partBytes = info.partScratchBytes;
        for (const std::string& symbol : info.phases) {
            void* address = dlsym(handle, symbol.c_str());
            if (address == nullptr)
                return makeError(Errc::BuildFailed, "the artifact has no symbol " + symbol);
            kernel.phases.push_back(reinterpret_cast<LathePhase>(address));
        }
        loaded.m_kernels.push_back(std::move(kernel));
    }
    return loaded;
}

int LoadedKernels::run(std::size_t index, const std::vector<void*>& tensors, unsigned parts) const
{
    const Kernel& kernel = m_kernels[index];
    const std::shared_ptr<void> team = scratch(kernel.teamBytes);
    const LatheArgs args{tensors.data(), team.get()};
    for (const LathePhase phase : kernel.phases) {
        for (unsigned part = 0; part < parts; ++part) {
            const std::shared_ptr<void> own = scratch(kernel.partBytes);
            if (const int code = phase(&args, own.get(), part, parts); code != 0)
                return code;
        }
    }
    return 0;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes)
    : m_bytes(bytes)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t lined = (bytes + kLine - 1) / kLine * kLine;
    const std::size_t inner = (lined + page - 1) / page * page;
    m_mapped = inner + 2 * page;
    m_mapping = mmap(nullptr, m_mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* start = static_cast<unsigned char*>(m_mapping) + page;
    mprotect(start, inner, PROT_READ | PROT_WRITE);
    m_data = start + inner - lined;
    m_tail = lined - bytes;
    std::memset(m_data + bytes, kPattern, m_tail);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : m_mapping(std::exchange(other.m_mapping, nullptr))
    , m_mapped(other.m_mapped)
    , m_data(other.m_data)
    , m_bytes(other.m_bytes)
    , m_tail(other.m_tail)
{
}

GuardedBuffer::~GuardedBuffer()
{
    if (m_mapping != nullptr)
        munmap(m_mapping, m_mapped);
}

bool GuardedBuffer::tailIntact() const
{
    for (std::size_t i = 0; i < m_tail; ++i)
        if (m_data[m_bytes + i] != kPattern)
            return false;
    return true;
}

void GuardedBuffer::protectWrites() const
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mprotect(static_cast<unsigned char*>(m_mapping) + page, m_mapped - 2 * page, PROT_READ);
}

} // namespace lathe::test
