#include "plugins/cpu/codegen/linker.h"

#include "core/support/message.h"
#include "plugins/cpu/codegen/llvm_options.h"

#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

LLD_HAS_DRIVER(elf)

// LLD 19 forgets to clear this symbol between links. A relocatable link behind one of a shared object would take it for
// its own, and write a table that it does not have.
namespace lld::elf {
class Defined;
struct ElfSym
{
    static Defined* globalOffsetTable;
};
} // namespace lld::elf

namespace lathe::cpu {

Result<MemoryFile> MemoryFile::create(const char* name, const void* data, std::size_t bytes)
{
    MemoryFile file;
    file.m_descriptor = memfd_create(name, MFD_CLOEXEC);
    if (file.m_descriptor < 0)
        return makeError(Errc::StoreFailed, fmt::format("no memory file for the linker: {}", std::strerror(errno)));
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = write(file.m_descriptor, at, bytes);
        if (done <= 0)
            return makeError(Errc::StoreFailed,
                             fmt::format("the linker's input cannot be written: {}", std::strerror(errno)));
        at += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return file;
}

MemoryFile::~MemoryFile()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
}

std::string MemoryFile::path() const
{
    return fmt::format("/proc/self/fd/{}", m_descriptor);
}

Result<> runLinker(const std::vector<std::string>& arguments)
{
    static std::mutex mutex; // LLD keeps its state in globals
    static bool usable = true;
    const std::scoped_lock lock(mutex);
    if (!usable)
        return makeError(Errc::Internal, say(Msg::LinkerBroken));
    std::vector<const char*> list = {"ld.lld", "--threads=1"};
    for (const std::string& argument : arguments)
        list.push_back(argument.c_str());
    for (const char* const option : kLlvmOptions)
        list.insert(list.end(), {"-mllvm", option});
    lld::elf::ElfSym::globalOffsetTable = nullptr;
    std::string words;
    llvm::raw_string_ostream output(words);
    const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
    const lld::Result result = lld::lldMain(list, output, output, drivers);
    usable = result.canRunAgain;
    if (result.retCode != 0) {
        constexpr std::size_t kEnough = 600;
        return makeError(Errc::BuildFailed, say(Msg::LinkingFailed, output.str().substr(0, kEnough)));
    }
    return {};
}

Result<std::string> LldLinker::hold(const char* name, std::span<const std::byte> bytes)
{
    LATHE_TRY_ASSIGN(MemoryFile file, MemoryFile::create(name, bytes.data(), bytes.size()));
    std::string path = file.path();
    m_files.push_back(std::move(file));
    return path;
}

} // namespace lathe::cpu
