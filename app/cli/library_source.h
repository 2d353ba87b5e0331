#pragma once

#include "app/cli/command.h"
#include "core/deploy/library_client.h"
#include "core/deploy/port_info.h"
#include "core/graph/input_ranges.h"
#include "core/session/remote_claim.h"
#include "core/session/views.h"
#include "core/support/files.h"

#include <nlohmann/json_fwd.hpp>

namespace lathe::cli {

/// FILE.so | MODEL of run, bench and verify: a model is compiled first, with the project's records where it has them.
struct LibrarySource
{
    std::optional<TempDir> folder; ///< of a library compiled for this call
    std::filesystem::path file;
    std::optional<session::ModelSpec> model; ///< MODEL, or what the library's description names
    std::string target; ///< that it was compiled for
    session::DeviceView device; ///< that --device names; without a key: it was not given
    std::optional<measure::RemoteClaim> remote; ///< a device behind a broker in place of it
};

/// The JSON description that was exported beside a library (NAME.json, found by the file that it names); null if none
/// is there.
nlohmann::json libraryDescription(const std::filesystem::path& library);

/// Which values suit the inputs, as a description says; nothing for inputs of which it says nothing.
std::vector<graph::InputRange> inputRangesIn(const nlohmann::json& description,
                                             const std::vector<deploy::PortInfo>& inputs);

/// --input NAME=FILE.npy; `rest` says what becomes of inputs that it does not name.
void addInputOption(CLI::App& command, std::vector<std::string>& inputs, const std::string& rest);

/// Which variant runs, where the library has several.
void printVariant(const deploy::LibraryClient& library);

/// Where a library runs.
struct PlaceArguments
{
    std::string device; ///< --device KEY
    session::BrokerWords broker; ///< --broker, --creds: KEY is one of its devices'
};
void addPlaceOptions(CLI::App& command, PlaceArguments& place);

/// Errors: NotFound, those of open and compile.
/// A model's library is timed, too, where its description shall have the estimates.
Result<LibrarySource> findLibrary(const ModelArguments& arguments, const PlaceArguments& place,
                                  bool withEstimates = false, unsigned threads = 0);

/// Loads it for the device that was asked for, if one was: the best variant of its kind. A single run of it may take
/// session::kRunSeconds, unless the options say less. Errors: Incompatible, where the library has none; those of
/// LibraryClient::open().
Result<std::unique_ptr<deploy::LibraryClient>> openLibrary(const LibrarySource& source,
                                                           deploy::LibraryClient::Options options);

} // namespace lathe::cli
