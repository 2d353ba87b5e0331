#include "core/backend/linker_program.h"

#include "core/support/files.h"
#include "core/support/message.h"
#include "core/support/open_file.h"
#include "core/support/subprocess.h"
#include "core/support/trusted_file.h"
#include "core/target/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace lathe::backend {

namespace {

/// A file for the linker that goes with this object.
class LinkerInput
{
public:
    static Result<LinkerInput> write(const std::filesystem::path& path, std::span<const std::byte> bytes)
    {
        ::unlink(path.c_str()); // of a process that had the same number and was killed
        const OpenFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file.get() < 0)
            return makeError(Errc::StoreFailed, say(Msg::NotWritten, path.string(), std::strerror(errno)));
        LinkerInput input(path);
        while (!bytes.empty()) {
            const ssize_t done = ::write(file.get(), bytes.data(), bytes.size());
            if (done < 0 && errno == EINTR)
                continue;
            if (done <= 0)
                return makeError(Errc::StoreFailed,
                                 say(Msg::NotWritten, path.string(), std::strerror(done < 0 ? errno : ENOSPC)));
            bytes = bytes.subspan(static_cast<std::size_t>(done));
        }
        return input;
    }
    LinkerInput(LinkerInput&& other) noexcept
        : m_path(std::exchange(other.m_path, {}))
    {
    }
    LinkerInput& operator=(LinkerInput&& other) noexcept
    {
        std::swap(m_path, other.m_path);
        return *this;
    }
    LinkerInput(const LinkerInput&) = delete;
    LinkerInput& operator=(const LinkerInput&) = delete;
    ~LinkerInput()
    {
        if (!m_path.empty())
            ::unlink(m_path.c_str());
    }

private:
    explicit LinkerInput(std::filesystem::path path)
        : m_path(std::move(path))
    {
    }
    std::filesystem::path m_path;
};

class LinkerProgram final : public Linker
{
public:
    LinkerProgram(std::filesystem::path program, std::filesystem::path output)
        : m_program(std::move(program))
        , m_output(std::move(output))
    {
    }

    Result<std::string> hold(const char* name, std::span<const std::byte> bytes) override
    {
        const std::string path = fmt::format("{}.{}{}", m_output.string(), name, m_inputs.size());
        LATHE_TRY_ASSIGN(LinkerInput input, LinkerInput::write(path, bytes));
        m_inputs.push_back(std::move(input));
        return path;
    }

    Result<> run(const std::vector<std::string>& arguments) override
    {
        ::unsetenv("LD_RUN_PATH"); // GNU ld would make the library look for others there
        SubprocessOptions options;
        options.program = m_program;
        options.arguments = arguments;
        options.environment = {{"LC_ALL", "C"}};
        options.pipeOutput = false;
        constexpr std::size_t kEnough = 600;
        LATHE_TRY_ASSIGN(const RunOutput ran, runProcess(options, {}, Deadline::never(), kEnough));
        if (ran.exit.ok())
            return {};
        return makeError(Errc::BuildFailed, say(Msg::LinkingFailed, ran.errors.empty() ? ran.exit.text() : ran.errors));
    }

private:
    std::filesystem::path m_program;
    std::filesystem::path m_output;
    std::vector<LinkerInput> m_inputs;
};

void addFromPath(std::vector<std::filesystem::path>& places, const std::string& name)
{
    for (const std::filesystem::path& folder : pathFolders())
        places.push_back(folder / name);
}

/// Where a linker for `machine` may be, the best first.
std::vector<std::filesystem::path> linkerPlaces(const std::string& machine)
{
    std::vector<std::filesystem::path> places;
    const bool isNative = machine == thisMachine();
    if (isNative)
        places.push_back(installPrefix() / "lib" / "lathe" / "linker" / "ld");
    addFromPath(places, "ld.lld-19");
    addFromPath(places, machine + "-linux-gnu-ld");
    if (isNative)
        addFromPath(places, "ld");
    addFromPath(places, "ld.lld");
    return places;
}

/// Debian's package of GNU ld for `machine`.
std::string packageOf(const std::string& machine)
{
    if (machine == thisMachine())
        return "binutils";
    std::string name = machine;
    std::ranges::replace(name, '_', '-');
    return fmt::format("binutils-{}-linux-gnu", name);
}

} // namespace

Result<std::unique_ptr<Linker>> findLinkerProgram(const std::string& machine, const std::filesystem::path& output)
{
    const auto linker = [&output](const std::filesystem::path& program) {
        return std::unique_ptr<Linker>(std::make_unique<LinkerProgram>(program, output));
    };
    std::vector<std::filesystem::path> places;
    if (const char* const told = std::getenv("LATHE_LINKER"); told != nullptr && told[0] != '\0') {
        if (std::strchr(told, '/') == nullptr) {
            addFromPath(places, told);
        } else { // what is not there says so when it is started
            LATHE_TRY(checkTrusted(told));
            return linker(told);
        }
    } else {
        places = linkerPlaces(machine);
    }
    Result<> trusted;
    for (const std::filesystem::path& place : places) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(place, ignored) || ::access(place.c_str(), X_OK) != 0)
            continue;
        Result<> checked = checkTrusted(place);
        if (checked)
            return linker(place);
        if (trusted)
            trusted = std::move(checked);
    }
    LATHE_TRY(std::move(trusted));
    return makeError(Errc::NotFound, say(Msg::NoLinker, packageOf(machine)));
}

} // namespace lathe::backend
