#pragma once

#include "tests/cuda_driver/driver/cuda_api.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace lathe::cuda_driver::testing {

using Environment = std::map<std::string, std::string>;

/// The driver on the CPU, as a program opens it: a copy of its own, so that each reads the environment anew. It is
/// never closed.
class OpenedDriver
{
public:
    /// @param environment  for cuInit; unset again afterwards. Standard error's findings go to the log file too.
    explicit OpenedDriver(const Environment& environment = {})
    {
        const QString file = m_folder.filePath(QStringLiteral("libcuda.so.1"));
        QFile::copy(QStringLiteral(LATHE_CUDA_DRIVER_FILE), file);
        m_library = ::dlopen(file.toLocal8Bit().constData(), RTLD_NOW | RTLD_LOCAL);
        ::setenv("LATHE_CUDA_DRIVER_LOG", logFile().toLocal8Bit().constData(), 1);
        for (const auto& [name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        m_started = call("cuInit", 0U);
        for (const auto& [name, value] : environment)
            ::unsetenv(name.c_str());
    }

    OpenedDriver(const OpenedDriver&) = delete;
    OpenedDriver& operator=(const OpenedDriver&) = delete;

    bool isOpen() const { return m_library != nullptr; }
    int started() const { return m_started; }
    QString logFile() const { return m_folder.filePath(QStringLiteral("log")); }
    QString log() const
    {
        QFile file(logFile());
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    /// Calls an entry point with arguments of exactly these types.
    template<typename... A>
    int call(const char* name, A... arguments) const
    {
        void* const function = m_library ? ::dlsym(m_library, name) : nullptr;
        return function ? reinterpret_cast<int (*)(A...)>(function)(arguments...) : -1;
    }

    /// Retains device 0 and makes it current.
    void* context(int device = 0) const
    {
        void* made = nullptr;
        call("cuDevicePrimaryCtxRetain", &made, device);
        call("cuCtxSetCurrent", made);
        return made;
    }
    uint64_t allocate(size_t bytes) const
    {
        uint64_t address = 0;
        call("cuMemAlloc_v2", &address, bytes);
        return address;
    }
    template<typename T>
    uint64_t put(const std::vector<T>& values) const
    {
        const uint64_t address = allocate(values.size() * sizeof(T));
        call("cuMemcpyHtoD_v2", address, static_cast<const void*>(values.data()), values.size() * sizeof(T));
        return address;
    }
    template<typename T>
    std::vector<T> get(uint64_t address, size_t count) const
    {
        std::vector<T> values(count);
        call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), address, count * sizeof(T));
        return values;
    }
    /// Null: it does not load, or there is no such kernel.
    void* function(const std::string& ptx, const char* name) const
    {
        void *module = nullptr, *made = nullptr;
        if (call("cuModuleLoadDataEx", &module, static_cast<const void*>(ptx.c_str()), 0U, static_cast<int*>(nullptr),
                 static_cast<void**>(nullptr))
            != 0)
            return nullptr;
        call("cuModuleGetFunction", &made, module, name);
        return made;
    }
    int launch(void* function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
               std::vector<void*> parameters, unsigned shared = 0, void* stream = nullptr) const
    {
        return call("cuLaunchKernel", function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, stream,
                    parameters.data(), static_cast<void**>(nullptr));
    }
    int synchronize() const { return call("cuCtxSynchronize"); }

private:
    QTemporaryDir m_folder;
    void* m_library = nullptr;
    int m_started = -1;
};

} // namespace lathe::cuda_driver::testing
