#pragma once

#include "core/session/events.h"
#include "core/session/loaded_model.h"
#include "core/store/record_reader.h"

#include <deque>

namespace lathe::session {

/// The events of a stored run, in their order, read from the project round by round. Used on one thread.
class ReplayScript
{
public:
    struct Item
    {
        Event event;
        std::int64_t row = 0; ///< of a trial's record
    };

    /// Errors: StoreFailed, BadFile.
    static Result<ReplayScript> open(const std::filesystem::path& project, const store::SessionRow& run,
                                     const LoadedModel& model);

    double length() const { return m_length; }
    /// The next event; null at the end. It stays until pop().
    Result<const Item*> front();
    void pop() { m_items.pop_front(); }
    void rewind();
    /// How the run ended.
    StateEvent ending() const { return m_ending; }
    DoneEvent done() const { return m_done; }

private:
    explicit ReplayScript(store::RecordReader reader)
        : m_reader(std::move(reader))
    {
    }
    Result<> readEvents(const store::SessionRow& run);
    Result<> nextRound();
    void tell(const store::PlayedRecord& record, std::int32_t round, double at,
              bool runoff); ///< the round's runoff says who stands best
    std::int32_t taskOf(const std::string& key) const;

    struct Finals
    {
        double at = 0;
        std::map<std::int32_t, double> bestNs; ///< by task
    };

    store::RecordReader m_reader;
    std::int64_t m_run = 0;
    std::map<std::string, std::int32_t> m_taskOfKey;
    std::vector<store::RoundRow> m_rounds;
    std::vector<std::int32_t> m_cutShort; ///< rounds whose trials are stored, but not their end
    std::vector<Event> m_between; ///< what is stored as an event, by time
    std::vector<Finals> m_finals; ///< by time
    double m_length = 0;
    StateEvent m_ending;
    DoneEvent m_done;
    // How far it is read:
    std::deque<Item> m_items;
    std::size_t m_round = 0, m_nextBetween = 0, m_nextFinals = 0;
    double m_at = 0; ///< end of the round before
    std::map<std::int32_t, double> m_bestNs;
};

} // namespace lathe::session
