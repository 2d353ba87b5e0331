#pragma once

#include "plugins/sim/machine.h"

namespace lathe::sim {

/// Runs the launches of a kernel, block after block, the threads of a block in step. It finds what goes wrong on a real
/// device by chance only: two threads at one element, one of which stores, with no barrier between or in different
/// blocks; bytes of an asynchronous copy before they were waited for; a barrier that not all threads of a block come
/// to; a shuffle that not all lanes of a warp come to; a read of what nobody has written.
class LaunchMachine final : public Machine
{
public:
    LaunchMachine(const Kernel& kernel, const ProgramView& program, void* const* parameters);
    void run();

private:
    using Threads = std::vector<std::int32_t>; ///< of a block, in order

    /// Who has been at an element; `era` says of which launch (of shared memory: which block of it) this speaks.
    struct Visits
    {
        std::int64_t era = -1;
        std::int64_t writer = -1, reader = -1; ///< the last one, counted through all blocks of the launch
        std::int64_t writtenAt = -1, readAt = -1; ///< barriers passed before
        bool severalReaders = false; ///< since the last barrier
        bool severalBlocks = false; ///< of readers
        std::int64_t copier = -1; ///< whose asynchronous copy to it has not been waited for
    };
    struct Memory
    {
        char* data = nullptr; ///< of a thread's own buffer: those of all threads of a block, one behind the other
        std::vector<char> owned;
        std::vector<Visits> visits; ///< where threads share it and may store to it
        std::vector<std::int64_t> written; ///< in which era last; -1: never
    };

    void launch(std::uint32_t number);
    void enter(std::int32_t thread);
    void step(std::int32_t index, const Threads& threads);
    void loop(const Node& node, const Threads& threads);
    void branch(const Node& node, const Threads& threads);
    void shuffle(const Node& node, const Threads& threads);
    void storeAll(const Node& node, const Threads& threads);
    void wait(std::int32_t thread, std::int32_t latest);
    bool isOnItsWay(const char* verb, std::int32_t buffer, std::int64_t at, std::int64_t copier);
    char* element(const Node& node, std::uint32_t indices) override;

    std::int64_t self() const { return m_block * m_threads + m_thread; }
    std::int64_t eraOf(const Buffer& buffer) const;
    bool meets(std::int64_t other, std::int64_t time) const;
    Visits& visitsAt(std::int32_t buffer, std::int64_t at);
    void noteRead(std::int32_t buffer, std::int64_t at);
    void noteWrite(std::int32_t buffer, std::int64_t at);
    std::string nameOf(std::int64_t thread) const;
    void race(const char* verb, std::int32_t buffer, std::int64_t at, std::int64_t other, const char* otherVerb);
    void wrong(const std::string& what);

    const Kernel& m_kernel;
    std::vector<Memory> m_memory; ///< by buffer
    std::vector<std::int64_t> m_frames; ///< thread after thread
    const Launch* m_launch = nullptr;
    std::int64_t m_number = 0; ///< of the launch
    std::int64_t m_threads = 1, m_blocks = 1;
    std::int64_t m_block = 0, m_thread = 0;
    std::int64_t m_firstBlock = 0; ///< blocks of the launches before
    std::int64_t m_time = 0; ///< barriers that were passed, and begins of blocks
    const Node* m_statement = nullptr;
    bool m_stores = false; ///< the element that is looked for is stored to
    bool m_copies = false; ///< and that by an asynchronous copy

    /// Of a thread: asynchronous copies that it has not waited for.
    struct Copies
    {
        using Group = std::vector<Visits*>;
        Group open; ///< not in a group yet
        std::vector<Group> groups; ///< the oldest first
    };
    std::vector<Copies> m_onTheirWay; ///< by thread
};

} // namespace lathe::sim
