#include "plugins/opencl/device/program.h"

#include "plugins/opencl/device/build.h"
#include "plugins/opencl/device/errors.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lathe::opencl {
namespace {

/// PoCL's binaries hold code for any launch. That is not what it starts: each launch gets code for its work-group, for
/// no offset, and for grids whose longest side has 16 bits, which is compiled when it is started first, unless the
/// binary was made with it. While this lives, binaries are; the words are the names of folders in PoCL's cache.
class SpecializedBinaries
{
public:
    explicit SpecializedBinaries(std::span<const LaunchShape> shapes)
    {
        if (const char* const before = std::getenv(kName); before != nullptr)
            m_before = before;
        std::string words;
        for (const LaunchShape& shape : shapes) {
            std::string word;
            for (const std::size_t extent : shape.block)
                word += std::to_string(extent) + '-';
            word += *std::ranges::max_element(shape.threads) < kSmallGrid ? "goffs0-smallgrid" : "goffs0";
            if (words.find(word) == std::string::npos)
                words += (words.empty() ? "" : ",") + word;
        }
        if (!words.empty())
            ::setenv(kName, words.c_str(), 1);
    }
    ~SpecializedBinaries()
    {
        if (m_before)
            ::setenv(kName, m_before->c_str(), 1);
        else
            ::unsetenv(kName);
    }
    SpecializedBinaries(const SpecializedBinaries&) = delete;
    SpecializedBinaries& operator=(const SpecializedBinaries&) = delete;

private:
    static constexpr const char* kName = "POCL_BINARY_SPECIALIZE_WG";
    static constexpr std::size_t kSmallGrid = 65535;
    std::optional<std::string> m_before;
};

/// PoCL unpacks a binary into one folder, whatever context the program is of, and removes it with the first program
/// that is released; what another thread writes or loads there at that moment ends the process. So of programs of one
/// binary none is released before all can be, and none is made meanwhile. Two binaries of equal hash only wait for each
/// other.
struct SharedBinaries
{
    struct Uses
    {
        std::size_t live = 0;
        std::vector<cl_program> waiting; ///< to be released
    };
    std::mutex mutex;
    std::unordered_map<std::size_t, Uses> uses; ///< by hash

    void leave(const Driver& driver, std::size_t hash, cl_program program)
    {
        const std::scoped_lock lock(mutex);
        Uses& of = uses[hash];
        if (program != nullptr)
            of.waiting.push_back(program);
        if (--of.live > 0)
            return;
        for (cl_program const one : of.waiting)
            driver.releaseProgram(one);
        uses.erase(hash);
    }
};

SharedBinaries& sharedBinaries()
{
    static SharedBinaries binaries;
    return binaries;
}

} // namespace

Program::~Program()
{
    if (m_program == nullptr)
        return;
    if (m_binary == 0)
        m_driver->releaseProgram(m_program);
    else
        sharedBinaries().leave(*m_driver, m_binary, m_program);
}

Program Program::fromSource(const Driver& driver, cl_context context, cl_device_id device, const std::string& source,
                            std::string& problem)
{
    BuildProblem why;
    Program program(driver, device, buildSource(driver, context, device, source, why));
    if (!program)
        problem = (why.isOfCompiler ? "the OpenCL compiler refuses the source: "
                                    : "the OpenCL driver takes no source: ")
                  + (why.log != nullptr ? why.log : errorText(why.code));
    return program;
}

Program Program::fromBinary(const Driver& driver, cl_context context, cl_device_id device, const std::string& binary)
{
    const std::size_t hash = std::hash<std::string_view>()(binary) | 1;
    SharedBinaries& shared = sharedBinaries();
    Program program(driver, device, nullptr);
    {
        const std::scoped_lock lock(shared.mutex);
        ++shared.uses[hash].live;
        program.m_program = buildBinary(driver, context, device, binary);
        program.m_binary = hash;
    }
    if (!program)
        shared.leave(driver, hash, nullptr);
    return program;
}

std::string Program::binary(std::span<const LaunchShape> shapes) const
{
    const SpecializedBinaries specialized(shapes);
    std::size_t bytes = 0;
    char* const made = binaryOf(*m_driver, m_program, m_device, bytes);
    std::string binary = made != nullptr ? std::string(made, bytes) : std::string();
    std::free(made);
    return binary;
}

} // namespace lathe::opencl
