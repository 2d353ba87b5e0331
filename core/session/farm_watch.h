#pragma once

#include "core/session/farm_view.h"
#include "core/support/result.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace lathe::session {

/// Hears what the devices and programs of a farm tell, and shows what it is like. Tells them nothing. A broker that is
/// away is waited for. Threads: any.
class FarmWatch
{
public:
    /// After so long each device and each program that is there has been heard.
    static constexpr std::chrono::milliseconds kFirstLook{1500};

    /// Blocks for up to some seconds: never on the GUI thread. Errors: those of broker::readToken(), of
    /// broker::brokerAddress() and of Connection::open(); InvalidArgument (a runner's token, which hears one key).
    /// @param where  "HOST:PORT", "nats://HOST:PORT", "tls://HOST:PORT"
    /// @param token  file that says who we are; empty: the broker lets in everybody
    static Result<std::unique_ptr<FarmWatch>> open(const std::string& where, const std::filesystem::path& token = {});
    ~FarmWatch();
    FarmWatch(const FarmWatch&) = delete;
    FarmWatch& operator=(const FarmWatch&) = delete;

    FarmView snapshot() const;
    /// Asks the broker for a sign of life, and waits for it: for up to a second, while it cannot be reached for up to
    /// some. FarmView::connected alone is true for some seconds more when the broker's machine hangs. Never on the GUI
    /// thread.
    bool answers() const;

private:
    struct Heard;
    struct Parts;
    explicit FarmWatch(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> m_parts;
};

} // namespace lathe::session
