#pragma once

#include "core/serve/loaded_library.h"
#include "core/wire/blob_store.h"
#include "core/wire/channel.h"

#include <memory>

namespace lathe::wire {
class LoadLibrary;
class RunLibrary;
class TimeLibrary;
} // namespace lathe::wire

namespace lathe::serve {

/// The runner's side of exported libraries: loads one, runs and times it in this process, and answers on the
/// channel. What the library does wrong ends the process; who asked explains it.
class LibraryServer
{
public:
    explicit LibraryServer(wire::Channel& channel)
        : m_channel(channel)
    {
    }

    // Errors are the channel's; those of the library are in the answers.
    Result<> load(const wire::LoadLibrary& request);
    Result<> run(const wire::RunLibrary& request);
    Result<> time(const wire::TimeLibrary& request);

    bool isLoaded() const { return m_library != nullptr; }
    /// Where inputs come to that run() is to find.
    wire::BlobStore& blobs() { return m_blobs; }

private:
    wire::Channel& m_channel;
    wire::BlobStore m_blobs{std::uint64_t(64) << 30};
    std::unique_ptr<LoadedLibrary> m_library;
};

} // namespace lathe::serve
