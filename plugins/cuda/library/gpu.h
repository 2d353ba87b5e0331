#pragma once

#include "plugins/cuda/device/launch_limits.h"

#include <cstddef>

namespace lathe::cuda {

/// A device, as far as a library has to do with it.
struct Gpu
{
    DeviceNumber number = 0;
    char key[16] = ""; ///< "cuda0": its place among those that the driver shows, as `lathe-cli devices` says it
    char name[200] = ""; ///< in the driver's words
    int capability = 0; ///< 10 times the major number and the minor one
    bool isIntegrated = false; ///< its memory is the processor's, and it reads what that has locked in place
    LaunchLimits limits;
};

/// The devices of this process, CUDA_VISIBLE_DEVICES seen to; freed with their owner.
class Gpus
{
public:
    Gpus() = default;
    ~Gpus();
    Gpus(const Gpus&) = delete;
    Gpus& operator=(const Gpus&) = delete;

    /// Opens the driver and lists them. Null: `error` is a sentence.
    const Driver* list(runtime::ErrorText& error);
    /// The one with that key, else the one that LATHE_CUDA_DEVICE names by its key or a part of its name, else the
    /// first that runs what was made for `target`. Null: `error` is a sentence.
    const Gpu* choose(const char* key, const char* target, runtime::ErrorText& error) const;
    /// That of a context of the caller's, which has to have this key, if there is one.
    const Gpu* chooseNumber(DeviceNumber number, const char* key, const char* target, runtime::ErrorText& error) const;

private:
    const Gpu* byKey(const char* key) const;
    const Gpu* byName(const char* part) const;
    void listKeys(char (&text)[256]) const;

    Gpu* m_gpus = nullptr;
    std::size_t m_count = 0;
};

} // namespace lathe::cuda
