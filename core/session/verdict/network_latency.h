#pragma once

#include "core/session/events.h"

namespace lathe::session {

struct RunView;

/// What the whole network takes, tuned and untuned: the one source of both figures for all that shows them.
///
/// It is timed in two ways. Alone, whenever it was built anew: figures of different minutes, in which the machine may
/// have had more or less time for it. And in turns, where a run ends and when somebody measures again: both networks in
/// the same seconds, run by run, each waking its threads for its turn. Only figures of turns compare with each other,
/// so these are shown, and those that were timed alone beside them, by that name, until the network is timed alone once
/// more.
struct NetworkLatency
{
    double ms = kUnknown, untunedMs = kUnknown;
    bool inTurns = false; ///< both are medians of turns
    double aloneMs = kUnknown, untunedAloneMs = kUnknown; ///< as timed alone last

    void take(const MeasuredEvent& measured);
    void take(const VerdictEvent& verdict); ///< which comes behind what was timed alone for it
};

/// Of a stored run.
NetworkLatency networkLatency(const RunView& run);

} // namespace lathe::session
