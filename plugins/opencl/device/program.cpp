#include "plugins/opencl/device/program.h"

#include "plugins/opencl/device/build.h"
#include "plugins/opencl/device/errors.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

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

} // namespace

Program::~Program()
{
    if (m_program != nullptr)
        m_driver->releaseProgram(m_program);
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
    return {driver, device, buildBinary(driver, context, device, binary)};
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
