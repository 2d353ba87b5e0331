#pragma once

#include "core/runtime/codes.h"
#include "core/runtime/index_map.h"
#include "core/support/errc.h"
#include "core/support/hash.h"
#include "core/support/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lathe {

/// Layout and thread split of the tensor on an edge of the graph. Records and their JSON carry it; no policy fills it
/// yet: it is for the graph tuner, whose plan chooses the layouts of all edges together.
struct EdgeState
{
    IndexMap map;
    std::string split; ///< "", "rows", "channels"
    friend bool operator==(const EdgeState&, const EdgeState&) = default;
};

/// What a policy proposes for one task. `steps` (JSON text of schedule::Step lists) always fills the body completely,
/// so that builders need no policy; (sketch, genome) or (template, config) say how it was made.
struct Candidate
{
    std::string task; ///< Task::key
    std::string alternative; ///< Alternative::name
    std::vector<EdgeState> edges; ///< inputs then outputs; empty: all plain
    std::string kind = "sketch"; ///< "sketch", "steps", "template"
    std::string sketch; ///< policy, version and sketch: "lathe-cpu/1:direct-tile"
    std::vector<std::int32_t> genome;
    std::string steps;
    double predictedNs =
        std::numeric_limits<double>::quiet_NaN(); ///< what the policy expected; NaN: nothing. No part of the identity

    /// Over all fields above but predictedNs: equal candidates have equal hashes in every process and on every machine.
    Hash128 hash() const;
};

/// Where a trial ended. The values are those of the header that plugins include (core/runtime/codes.h).
enum class TrialStage : std::uint8_t
{
    Done = LATHE_STAGE_DONE,
    Lower = LATHE_STAGE_LOWER,
    Build = LATHE_STAGE_BUILD,
    Load = LATHE_STAGE_LOAD,
    Run = LATHE_STAGE_RUN,
    Verify = LATHE_STAGE_VERIFY,
    Transport = LATHE_STAGE_TRANSPORT
};
std::string_view toString(TrialStage stage); ///< "done", "lower", ...

/// Who measured.
struct DeviceIdentity
{
    std::string
        key; ///< of the class of equal devices, among which costs compare: "h100", "cpu-5ac01d94b2e7"; empty: nobody
    std::string fingerprint; ///< this one, JSON as its device half tells: {"kind", "key", "name", "hardware"}
    friend bool operator==(const DeviceIdentity&, const DeviceIdentity&) = default;
};

/// The identity of a device that is not registered under a key. Its key is then its kind and a hash of its fingerprint,
/// without the fingerprint's "key", the name that its own machine gives it: so the key is the same wherever the device
/// is plugged in. A fingerprint that is not a JSON object is itself the key.
DeviceIdentity identityOf(std::string fingerprint);

/// What came of it.
struct TrialResult
{
    TrialStage stage = TrialStage::Done;
    Errc code = Errc::Ok;
    std::string text; ///< for people, whole (compiler output included), in English
    About about = {}; ///< the text; null in records of older versions
    std::vector<double> costsNs; ///< mean time of one run, one per repeat
    bool verified = false; ///< outputs were compared with the reference
    std::map<std::string, double> durationsMs; ///< by activity: queue, build, link, upload, measure
    std::string conditions; ///< JSON: calibration, clocks, load, cold bytes, spills
    DeviceIdentity device; ///< where it was measured, or went wrong; empty: it never got to a device
    bool ok() const { return code == Errc::Ok; }
    double meanNs() const; ///< of costsNs; +inf if there are none
};

/// What is stored of both.
struct Record
{
    std::string trial; ///< 128-bit id, hex; the store ignores one that it has
    std::int64_t session = 0;
    std::int32_t round = 0;
    std::int32_t index = 0; ///< within the round
    Candidate candidate;
    TrialResult result;
    std::string target; ///< text of the target that it was built for
    std::int64_t timeMs = 0; ///< UNIX, milliseconds
    std::string repeats; ///< the trial whose candidate was measured again; empty: none
};

/// The caches that a record's runs met, as its conditions say. 0: warm, runs back to back. Above: so many bytes of
/// other memory were read before each run. Below: weights were taken in turns from copies of so many bytes together.
std::int64_t coldBytes(const Record& record);

/// Id of the finals that a record is of, as its conditions say; empty: it is an ordinary trial.
std::string finalsOf(const Record& record);

} // namespace lathe
