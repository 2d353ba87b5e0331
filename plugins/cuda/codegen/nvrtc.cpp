#include "plugins/cuda/codegen/nvrtc.h"

#include "core/support/message.h"
#include "core/support/trusted_file.h"
#include "plugins/cuda/codegen/spills.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/model/wheels.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace lathe::cuda {

namespace fs = std::filesystem;

/// Those of NVRTC's interface that are used here, in declarations of our own. All return 0 if they succeed.
struct NvrtcFunctions
{
    using Program = struct OpaqueProgram*;
    int (*version)(int* major, int* minor) = nullptr;
    int (*architectureCount)(int* count) = nullptr;
    int (*architectures)(int* capabilities) = nullptr;
    int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                  const char* const* names) = nullptr;
    int (*destroy)(Program* program) = nullptr;
    int (*compile)(Program program, int count, const char* const* options) = nullptr;
    int (*logSize)(Program program, std::size_t* bytes) = nullptr;
    int (*log)(Program program, char* text) = nullptr;
    int (*ptxSize)(Program program, std::size_t* bytes) = nullptr;
    int (*ptx)(Program program, char* text) = nullptr;
    int (*cubinSize)(Program program, std::size_t* bytes) = nullptr;
    int (*cubin)(Program program, char* bytes) = nullptr;
    const char* (*errorText)(int code) = nullptr;
};

namespace {

/// The newest first: a loader finds each by its whole name alone.
constexpr std::array<const char*, 3> kNames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};

template<typename Function>
bool take(void* library, const char* name, Function*& function)
{
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
}

bool takeAll(void* library, NvrtcFunctions& f);

} // namespace

/// All compilers of this machine, each opened when those before it do not do.
struct Search
{
    static Search& instance()
    {
        static Search& only = *new Search; // NOLINT(cppcoreguidelines-owning-memory): compilers are never closed
        return only;
    }

    /// The first that `suits`; null: there is none.
    template<typename Suits>
    const Nvrtc* first(Suits suits)
    {
        const std::scoped_lock lock(m_mutex);
        std::size_t looked = 0;
        do
            for (; looked < m_found.size(); ++looked)
                if (suits(m_found[looked]))
                    return &m_found[looked];
        while (openNext());
        return nullptr;
    }

    std::deque<Nvrtc> found()
    {
        const std::scoped_lock lock(m_mutex);
        return m_found;
    }
    std::string refusal()
    {
        const std::scoped_lock lock(m_mutex);
        return m_refusal;
    }

private:
    Search()
    {
        const char* const named = std::getenv("LATHE_NVRTC");
        if (named != nullptr && named[0] != '\0') {
            std::error_code ignored;
            if (fs::is_directory(named, ignored))
                addFolder(named);
            else
                m_places.emplace_back(named);
            return;
        }
        m_places.assign(kNames.begin(), kNames.end());
        for (const fs::path& folder : nvrtcFolders())
            addFolder(folder);
    }

    void addFolder(const fs::path& folder)
    {
        for (const char* const name : kNames) {
            std::error_code ignored;
            if (fs::exists(folder / name, ignored))
                m_places.push_back((folder / name).string());
        }
    }

    /// False: there is nothing left to open. True: the next one was opened, or is none.
    bool openNext()
    {
        if (m_next == m_places.size())
            return false;
        open(m_places[m_next++]);
        return true;
    }

    void open(const std::string& place)
    {
        if (place.find('/') != std::string::npos)
            if (const Result<> trusted = checkTrusted(place); !trusted) {
                m_refusal = trusted.error().message;
                return;
            }
        void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            // What is not there where the loader looks is nothing to speak of.
            if (place.find('/') != std::string::npos)
                m_refusal = ::dlerror();
            return;
        }
        if (!m_opened.insert(library).second) // the same by another name
            return;
        auto functions = std::make_unique<NvrtcFunctions>();
        Nvrtc compiler;
        int count = 0;
        if (!takeAll(library, *functions) || functions->version(&compiler.m_major, &compiler.m_minor) != 0
            || functions->architectureCount(&count) != 0 || count <= 0) {
            m_refusal = place + " is not NVRTC 11.2 or later";
            return;
        }
        compiler.m_capabilities.resize(static_cast<std::size_t>(count));
        if (functions->architectures(compiler.m_capabilities.data()) != 0) {
            m_refusal = place + " does not tell for which architectures it makes code";
            return;
        }
        std::ranges::sort(compiler.m_capabilities);
        compiler.m_functions = functions.release();
        m_found.push_back(std::move(compiler));
    }

    std::mutex m_mutex;
    std::vector<std::string> m_places;
    std::size_t m_next = 0;
    std::set<void*> m_opened;
    std::deque<Nvrtc> m_found; ///< whose elements stay where they are
    std::string m_refusal; ///< why the last one that was there was not taken
};

namespace {

bool takeAll(void* library, NvrtcFunctions& f)
{
    return take(library, "nvrtcVersion", f.version) && take(library, "nvrtcGetNumSupportedArchs", f.architectureCount)
           && take(library, "nvrtcGetSupportedArchs", f.architectures) && take(library, "nvrtcCreateProgram", f.create)
           && take(library, "nvrtcDestroyProgram", f.destroy) && take(library, "nvrtcCompileProgram", f.compile)
           && take(library, "nvrtcGetProgramLogSize", f.logSize) && take(library, "nvrtcGetProgramLog", f.log)
           && take(library, "nvrtcGetPTXSize", f.ptxSize) && take(library, "nvrtcGetPTX", f.ptx)
           && take(library, "nvrtcGetCUBINSize", f.cubinSize) && take(library, "nvrtcGetCUBIN", f.cubin)
           && take(library, "nvrtcGetErrorString", f.errorText);
}

bool makes(const Nvrtc& compiler, int capability)
{
    return std::ranges::binary_search(compiler.capabilities(), capability);
}

/// Null: there is none. @param mostMajor of its version; 0: any
const Nvrtc* firstOf(int capability, int mostMajor)
{
    return Search::instance().first(
        [&](const Nvrtc& each) { return (mostMajor == 0 || each.major() <= mostMajor) && makes(each, capability); });
}

/// "NVRTC 13.5 (sm_75 to sm_121), NVRTC 12.9 (sm_50 to sm_121)"
std::string listed(const std::deque<Nvrtc>& compilers)
{
    std::string text;
    for (const Nvrtc& compiler : compilers)
        text += (text.empty() ? "NVRTC " : ", NVRTC ") + compiler.version() + " ("
                + architectureName(compiler.capabilities().front()) + " to "
                + architectureName(compiler.capabilities().back()) + ')';
    return text;
}

/// The newest compilers make nothing for what is older than sm_75.
std::string commandFor(int capability)
{
    return wheelCommand(capability < 75 ? kNvrtc12Package : kNvrtcPackage);
}

Error nothingMakes(int capability)
{
    const std::deque<Nvrtc> found = Search::instance().found();
    if (!found.empty())
        return makeError(Errc::Unsupported, say(Msg::CudaCompilerLacks, architectureName(capability), listed(found),
                                                commandFor(capability)));
    const std::string refusal = Search::instance().refusal();
    return makeError(Errc::NotFound, refusal.empty() ? say(Msg::CudaNoCompiler, commandFor(capability))
                                                     : say(Msg::CudaCompilerNotTaken, refusal, commandFor(capability)));
}

/// A program of NVRTC's, destroyed with its owner.
struct OwnProgram
{
    explicit OwnProgram(const NvrtcFunctions& f)
        : functions(f)
    {
    }
    ~OwnProgram()
    {
        if (program != nullptr)
            functions.destroy(&program);
    }
    OwnProgram(const OwnProgram&) = delete;
    OwnProgram& operator=(const OwnProgram&) = delete;

    /// A text or code of the program, by the two functions that tell its size and copy it; with the zero at its end.
    std::string get(int (*size)(NvrtcFunctions::Program, std::size_t*), int (*copy)(NvrtcFunctions::Program, char*))
    {
        std::size_t bytes = 0;
        if (size(program, &bytes) != 0 || bytes == 0)
            return {};
        std::string text(bytes, '\0');
        return copy(program, text.data()) == 0 ? text : std::string();
    }

    const NvrtcFunctions& functions;
    NvrtcFunctions::Program program = nullptr;
};

void trim(std::string& text)
{
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n'))
        text.pop_back();
}

} // namespace

Result<const Nvrtc*> Nvrtc::find(int capability, int driverMajor)
{
    for (const int most : {driverMajor, 0})
        if (const Nvrtc* const found = firstOf(capability, most))
            return found;
    return nothingMakes(capability);
}

Result<std::pair<const Nvrtc*, int>> Nvrtc::findFor(int deviceCapability, int driverMajor)
{
    for (const int most : {driverMajor, 0}) {
        if (const Nvrtc* const exact = firstOf(deviceCapability, most))
            return std::pair(exact, deviceCapability);
        for (int capability = std::min(deviceCapability - 1, kLastCapability); capability >= kFirstCapability;
             --capability)
            if (const Nvrtc* const older = firstOf(capability, most))
                return std::pair(older, capability);
    }
    return nothingMakes(deviceCapability);
}

std::string Nvrtc::version() const
{
    return std::to_string(m_major) + '.' + std::to_string(m_minor);
}

Result<Compiled> Nvrtc::compile(const std::string& source, int capability) const
{
    std::string log;
    LATHE_TRY_ASSIGN(Compiled made, compileOnce(source, capability, log));
    if (made.spilledBytes == 0)
        return made;
    SpilledBytes spilling = spillsOf(log);
    const std::string other = withAllRegisters(source, spilling);
    if (other == source)
        return made;
    auto again = compileOnce(other, capability, log);
    if (!again)
        return made;
    // Each function as if it were alone: one that spills more with all registers is left as it was.
    const SpilledBytes now = spillsOf(log);
    const auto spillsMore = [&now](const auto& before) {
        const auto found = now.find(before.first);
        return found != now.end() && found->second > before.second;
    };
    if (std::erase_if(spilling, spillsMore) > 0)
        again = compileOnce(withAllRegisters(source, spilling), capability, log);
    return again && again->spilledBytes < made.spilledBytes ? again : std::move(made);
}

Result<Compiled> Nvrtc::compileOnce(const std::string& source, int capability, std::string& log) const
{
    const NvrtcFunctions& f = *m_functions;
    OwnProgram made(f);
    if (const int code = f.create(&made.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr); code != 0)
        return makeError(Errc::BuildFailed, say(Msg::CudaCompilerRefuses, f.errorText(code)));
    // Products are joined with what is added to them, as on all back ends; all else is computed as the language has it:
    // subnormals kept, quotients and roots rounded correctly.
    const std::string architecture = "--gpu-architecture=" + architectureName(capability);
    const std::array<const char*, 4> options = {architecture.c_str(), "--std=c++17", "-default-device",
                                                "--ptxas-options=-v"};
    const int code = f.compile(made.program, static_cast<int>(options.size()), options.data());
    log = made.get(f.logSize, f.log);
    trim(log);
    if (code != 0)
        return makeError(Errc::BuildFailed, say(Msg::CudaCompilerRefuses, log.empty() ? f.errorText(code) : log));
    Compiled compiled;
    compiled.ptx = made.get(f.ptxSize, f.ptx);
    trim(compiled.ptx);
    compiled.cubin = made.get(f.cubinSize, f.cubin);
    if (compiled.ptx.empty() && compiled.cubin.empty())
        return makeError(Errc::BuildFailed, say(Msg::CudaCompilerRefuses, "no code was made"));
    compiled.registers = registersIn(log);
    compiled.spilledBytes = spilledBytesIn(log);
    return compiled;
}

} // namespace lathe::cuda
