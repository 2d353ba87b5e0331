#include "app/runner/farm_words.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>

namespace lathe::runner {

const char* const kHelp =
    R"(Offers the devices of this machine to programs that tune networks, by way of a broker.

usage: lathe-runner --broker HOST:PORT --key KEY [options]

  --broker HOST:PORT   The broker (lathe-cli tracker); also nats://HOST:PORT, tls://HOST:PORT.
                       If absent, LATHE_BROKER names it
  --key KEY            The key under which programs ask for devices like this one: all machines with
                       this key are to be equal. If absent, the token's
  --creds FILE         Token for the broker (lathe-cli tracker token --runner KEY); only a broker on this
                       machine lets in runners without one
  --name NAME          What this machine is called among those with its key (if absent: the token's name, or
                       this machine's name and the key)
  --slots N            Number of requests that it holds for a program; one is measured at a time (1 to 16,
                       default 2)
  --cooldown-ms N      Pause after each measurement (0 to 600000, default 0)
  --hottest CELSIUS    Begin no measurement while the machine is hotter than that (1 to 150; default: however hot it is)
  --longest-reserve MINUTES
                       For how long somebody may keep it although others wait (0 to 1440, default 30)
  --audit FILE         Append a line for each program that uses the devices, and for all that it runs there
  --help, --version

It runs until it is stopped (SIGTERM, Control-C): it finishes the measurement in hand, and gives the device back.
A broker that is away is waited for.

Programs that use the devices send native code, which runs with the rights of this program: start it as a user who may
do little else (the systemd unit lathe-runner@KEY does).

Without arguments it measures for the program that started it, over standard input and output.
)";

namespace {

Result<> readWhole(std::uint32_t& value, const std::string& word, std::uint32_t least, std::uint32_t most)
{
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most)
        return makeError(Errc::InvalidArgument, fmt::format("'{}' must be a number from {} to {}", word, least, most));
    return {};
}

} // namespace

Result<FarmWords> readWords(const std::vector<std::string>& words)
{
    FarmWords said;
    using Take = std::function<Result<>(const std::string&)>;
    const auto text = [](auto& field) {
        return [&field](const std::string& word) {
            field = word;
            return Result<>();
        };
    };
    const auto whole = [](std::uint32_t& field, std::uint32_t least, std::uint32_t most) {
        return [&field, least, most](const std::string& word) { return readWhole(field, word, least, most); };
    };
    const std::map<std::string, Take> options = {{"--broker", text(said.broker)},
                                                 {"--key", text(said.key)},
                                                 {"--creds", text(said.token)},
                                                 {"--name", text(said.name)},
                                                 {"--audit", text(said.audit)},
                                                 {"--slots", whole(said.slots, 1, 16)},
                                                 {"--cooldown-ms", whole(said.cooldownMs, 0, 600'000)},
                                                 {"--hottest", whole(said.hottest, 1, 150)},
                                                 {"--longest-reserve", whole(said.longestReserveMinutes, 0, 1440)}};
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        if (word == "--help" || word == "-h") {
            said.help = true;
            continue;
        }
        if (word == "--version") {
            said.version = true;
            continue;
        }
        std::optional<std::string> value;
        if (const std::size_t equals = word.find('='); equals != std::string::npos) {
            value = word.substr(equals + 1);
            word.resize(equals);
        }
        const auto option = options.find(word);
        if (option == options.end())
            return makeError(Errc::InvalidArgument, fmt::format("'{}' is unknown: see lathe-runner --help", word));
        if (!value && ++i == words.size())
            return makeError(Errc::InvalidArgument, fmt::format("{} needs a value", word));
        LATHE_TRY(option->second(value ? *value : words[i]));
    }
    return said;
}

} // namespace lathe::runner
