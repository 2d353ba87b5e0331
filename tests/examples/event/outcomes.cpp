#include "tests/examples/event/outcomes.h"

namespace lathe::examples {

void Outcomes::onEvents(std::span<const session::Event> events)
{
    for (const session::Event& event : events)
        if (const auto* trial = std::get_if<session::TrialEvent>(&event.what))
            ++(trial->trial.code == "Ok" ? m_good : m_failed);
        else if (std::holds_alternative<session::RewindEvent>(event.what))
            m_good = m_failed = 0; // a replay goes back to its beginning
}

} // namespace lathe::examples
