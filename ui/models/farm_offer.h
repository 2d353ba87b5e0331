#pragma once

#include "ui/bridge/farm_link.h"

#include <QString>

#include <string>
#include <vector>

namespace lathe::ui {

/// What a farm offers to runs: its keys, and whether they can be had now. A value, so that who shows it sees whether
/// anything changed.
struct FarmOffer
{
    struct Key
    {
        QString key;
        int devices = 0; ///< that are there
        int free = 0;
        std::vector<std::string> kinds; ///< of targets, that some of its devices measure; empty: they do not say

        bool isFor(const std::string& target) const; ///< by its kind
        bool operator==(const Key&) const = default;
    };
    FarmLink::State state = FarmLink::State::None;
    FarmLink::Place place;
    std::vector<Key> keys; ///< by name; while the broker does not answer, those that it had

    static FarmOffer of(const FarmLink& farm);
    bool operator==(const FarmOffer&) const = default;
};

/// One broker has one name, whether its scheme is said or not: "nats://HOST:PORT" and "tls://HOST:PORT" are "HOST:PORT".
QString plainBroker(const QString& address);

} // namespace lathe::ui
