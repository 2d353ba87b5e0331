#pragma once

#include "core/runtime/device_driver.h"
#include "plugins/cuda/device/driver_functions.h"

#include <cstddef>
#include <cstdint>

namespace lathe::cuda {

/// What a run enqueues, in terms that hold until the next one: addresses on the device, numbers of launches, and memory
/// of the recorder's for what goes to and from the processor.
struct Command
{
    enum class Kind : std::uint32_t
    {
        Launch,
        Copy,
        Write, ///< to the device
        Read
    };
    Kind kind = Kind::Launch;
    const runtime::DeviceLaunch* launch = nullptr;
    std::uint64_t number = 0; ///< DeviceLaunch::number
    Address to = 0, from = 0;
    std::size_t bytes = 0;
    void* staged = nullptr; ///< of Write and Read: so many bytes, locked in place
    void* host = nullptr; ///< of Read: where they go when the device is done

    bool isLike(const Command& other) const
    {
        return kind == other.kind && number == other.number && to == other.to && from == other.from
               && bytes == other.bytes;
    }
};

/// Makes CUDA graphs of an instance's runs, and starts these instead of the commands.
///
/// A run is stretches of commands, each up to where the processor waits for the device. The first run starts each
/// command at once, and they are written down. In the next ones a command that is as the one in its place was is held
/// back. When all of a stretch came again, it is captured as a graph, once, and from then on a stretch is one call of
/// the driver. When another command comes, those that were held back are started, and it is written down anew.
///
/// So a graph does not depend on what the caller binds: his bytes are moved through memory of the recorder's, and what
/// he has on the device is copied between stretches. Where the driver makes no graph, commands are started one by one.
class Recorder
{
public:
    Recorder() = default;
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void open(const runtime::DeviceContext& context, Stream stream);
    /// Of a run, at which everything before has been waited for, or is now.
    runtime::Status begin(runtime::ErrorText& error);
    runtime::Status end(runtime::ErrorText& error);
    /// Whether commands are to come by add().
    bool isRecording() const { return m_isInRun; }
    /// @param data  of Write: is read before this returns, so that it must not be waited for (awaits())
    runtime::Status add(const Command& command, const void* data, runtime::ErrorText& error);
    /// Starts what was held back, so that something else can follow.
    runtime::Status flush(runtime::ErrorText& error);
    /// The device is done with all that was enqueued, well or not.
    void finished(bool isWell);
    /// Whether bytes of the processor's are still to come from the device.
    bool awaits(const void* host, std::size_t bytes) const;
    /// Something was started.
    void touch() { m_isBusy = true; }
    /// Something was started that was not waited for.
    bool isBusy() const { return m_isBusy; }

    /// Copies of more bytes are not recorded.
    static constexpr std::size_t kMostStaged = 16 << 20;

private:
    struct Stretch
    {
        Command* commands = nullptr;
        std::uint32_t count = 0, room = 0;
        GraphExec graph = nullptr;
    };
    void startStretch();
    runtime::Status append(const Command& command, const void* data, runtime::ErrorText& error);
    runtime::Status startHeld(Stretch& stretch, runtime::ErrorText& error);
    runtime::Status replay(Stretch& stretch, runtime::ErrorText& error);
    bool capture(Stretch& stretch);
    runtime::Status start(const Command& command, Stream stream, runtime::ErrorText& error) const;
    void fill(Command& command, const Command& with, const void* data);
    void cut(Stretch& stretch, std::uint32_t count);
    void forgetAll();

    static constexpr std::uint32_t kMostStretches = 16; ///< of a run; what comes behind them is started at once
    static constexpr std::uint32_t kMostCommands = 1 << 16; ///< of a stretch
    /// What a command that is another one than in the last run counts, against one for each graph that is started; with
    /// that many the runs are too different from each other.
    static constexpr std::uint32_t kMissCounts = 8, kMostMisses = 256;

    const runtime::DeviceContext* m_context = nullptr;
    Stream m_stream = nullptr;
    Stream m_captures = nullptr; ///< in which graphs are made: the caller's stays as it is
    Stretch m_stretches[kMostStretches];
    std::uint32_t m_stretch = 0; ///< that the run is in
    std::uint32_t m_held = 0; ///< commands of it that were held back
    bool m_isHolding = false; ///< so far they are as in the last run
    bool m_isInRun = false;
    bool m_isBusy = false; ///< something was started that was not waited for
    bool m_isOff = false; ///< for good
    bool m_makesNoGraphs = false;
    std::uint32_t m_misses = 0;
    std::uint32_t m_reads = 0; ///< whose bytes wait to be handed over
};

} // namespace lathe::cuda
