#pragma once

#include "plugins/opencl/device/device_list.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace lathe::opencl {

/// How a launch is started, along x, y, z.
struct LaunchShape
{
    std::size_t threads[3] = {1, 1, 1}; ///< of all work-groups
    std::size_t block[3] = {1, 1, 1}; ///< of one
};

/// A program that was built for one device; released with its owner. Threads: any, one for each program.
class Program
{
public:
    Program() = default;
    ~Program();
    Program(Program&& other) noexcept { *this = std::move(other); }
    Program& operator=(Program&& other) noexcept
    {
        std::swap(m_driver, other.m_driver);
        std::swap(m_device, other.m_device);
        std::swap(m_program, other.m_program);
        std::swap(m_binary, other.m_binary);
        return *this;
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// Compiles OpenCL C. Without a program `problem` says what is wrong, in the compiler's own words.
    static Program fromSource(const Driver& driver, cl_context context, cl_device_id device, const std::string& source,
                              std::string& problem);
    /// Without a program the driver does not take the binary: it is of another version, or of another device.
    static Program fromBinary(const Driver& driver, cl_context context, cl_device_id device, const std::string& binary);

    cl_program get() const { return m_program; }
    explicit operator bool() const { return m_program != nullptr; }
    /// What fromBinary() takes; empty: the driver gives none (binaryOf()). PoCL, which compiles late, does it now: for
    /// launches of these shapes it has nothing left to compile then, neither in this program nor in one that is made of
    /// the binary. For that it is told by an environment variable, so no other thread may use the environment
    /// meanwhile.
    std::string binary(std::span<const LaunchShape> shapes = {}) const;

private:
    Program(const Driver& driver, cl_device_id device, cl_program program)
        : m_driver(&driver)
        , m_device(device)
        , m_program(program)
    {
    }
    const Driver* m_driver = nullptr;
    cl_device_id m_device = nullptr;
    cl_program m_program = nullptr;
    std::size_t m_binary = 0; ///< hash of the binary that it is of; 0: of source
};

} // namespace lathe::opencl
