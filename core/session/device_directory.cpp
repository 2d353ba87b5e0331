#include "core/session/device_directory.h"

#include "core/backend/rules.h"
#include "core/measure/measurer.h"
#include "core/session/back_ends.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/option_words.h"
#include "core/target/kinds.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

using nlohmann::json;

namespace {

DeviceView viewDevice(const json& device)
{
    DeviceView view;
    view.kind = textIn(device, "kind");
    view.key = textIn(device, "key");
    view.name = textIn(device, "name", textIn(device, "plugin"));
    view.words = textIn(device, "words");
    if (!device.contains("error")) { // else it is no device
        DeviceIdentity identity = identityOf(device.dump());
        view.deviceKey = std::move(identity.key);
        view.fingerprint = std::move(identity.fingerprint);
    }
    view.state = device.contains("error") ? "absent: " + textIn(device, "error") : "ready";
    view.about = aboutFromJsonText(textIn(device, "about"));
    for (const json hardware = partIn(device, "hardware"); const auto& [name, limit] : hardware.items())
        view.hardware.push_back({name, wholeIn(limit, "value"), textIn(limit, "origin")});
    return view;
}

DeviceView absent(std::string kind, std::string name, const Message& reason)
{
    DeviceView view;
    view.kind = std::move(kind);
    view.name = std::move(name);
    view.state = fmt::format("absent: {}", textOf(reason));
    view.about = about(reason);
    return view;
}

Message noBackEnd(std::string_view kind)
{
    return say(Msg::NoBackEnd, kind);
}

/// A device whose limits are below those that the target's code needs is as good as none.
void refuseUnfit(const Target& target, DeviceView& device)
{
    const backend::BackendRulesPtr rules = backend::rulesOf(target);
    if (!rules || !device.ready())
        return;
    const Hardware presets = defaultHardware(target);
    for (const std::string& name : rules->needs) {
        const auto needed = presets.limits.find(name);
        const auto has = std::ranges::find(device.hardware, name, &DeviceView::Limit::name);
        if (needed == presets.limits.end() || has == device.hardware.end() || has->value >= needed->second.value)
            continue;
        const Message reason = say(Msg::DeviceLacks, device.name, target.text(), name, has->value,
                                   needed->second.value);
        device.state = fmt::format("absent: {}", textOf(reason));
        device.about = about(reason);
        return;
    }
}

/// "cpu, gpu-left": by which names they can be asked for.
std::string keysOf(std::span<const DeviceView> devices)
{
    std::string keys;
    for (const DeviceView& device : devices)
        if (device.ready())
            keys += (keys.empty() ? "" : ", ") + device.key;
    return keys;
}

} // namespace

DeviceDirectory DeviceDirectory::ask(const std::string& of)
{
    const auto text = measure::listDevices({}, of);
    if (!text)
        return DeviceDirectory({absent({}, {}, messageOf(text.error()))});
    std::vector<DeviceView> views;
    const json list = json::parse(*text, nullptr, false);
    for (const json& device : list)
        views.push_back(viewDevice(device));
    // What people look for says why it is not there.
    loadBackEnds();
    for (const TargetKindPtr& kind : targetKinds()) {
        const auto isOfKind = [&kind](const DeviceView& view) { return view.kind == kind->name; };
        if (!kind->devices.empty() && (of.empty() || of == kind->name)
            && std::none_of(views.begin(), views.end(), isOfKind))
            views.push_back(absent(kind->name, kind->devices, noBackEnd(kind->name)));
    }
    return DeviceDirectory(std::move(views));
}

bool DeviceDirectory::isAnswered() const
{
    return std::none_of(m_all.begin(), m_all.end(),
                        [](const DeviceView& device) { return device.kind.empty() && !device.ready(); });
}

std::vector<DeviceView> DeviceDirectory::forTarget(const std::string& text) const
{
    const auto target = parseTarget(text);
    if (!target)
        return {absent({}, {}, messageOf(target.error()))};
    if (const auto measurable = measure::checkMeasurable(*target); !measurable)
        return {absent(target->kind(), {}, messageOf(measurable.error()))};
    std::vector<DeviceView> devices;
    std::copy_if(m_all.begin(), m_all.end(), std::back_inserter(devices), [&](const DeviceView& device) {
        return device.kind == target->kind() && !contradict(device.words, target->text());
    });
    for (DeviceView& device : devices)
        refuseUnfit(*target, device);
    std::stable_partition(devices.begin(), devices.end(), [](const DeviceView& device) { return device.ready(); });
    if (!devices.empty())
        return devices;
    // Nobody could be asked; else its back end finds none, or is not there.
    for (const DeviceView& device : m_all)
        if (device.kind.empty() && !device.ready())
            return {absent(target->kind(), device.name, messageOf(device.reason(), device.about))};
    return {absent(target->kind(), {}, noBackEnd(target->kind()))};
}

Result<std::vector<DeviceView>> DeviceDirectory::pick(const std::string& target,
                                                      std::span<const std::string> keys) const
{
    std::vector<DeviceView> devices = forTarget(target);
    if (!devices.front().ready())
        return makeError(devices.front().key.empty() ? Errc::Unsupported : Errc::NotFound,
                         messageOf(devices.front().reason(), devices.front().about));
    std::erase_if(devices, [](const DeviceView& device) { return !device.ready(); });
    if (keys.empty()) {
        std::erase_if(devices,
                      [of = devices.front().deviceKey](const DeviceView& device) { return device.deviceKey != of; });
        return devices;
    }
    for (const std::string& key : keys)
        if (std::none_of(devices.begin(), devices.end(),
                         [&key](const DeviceView& device) { return device.isCalled(key); }))
            return makeError(Errc::NotFound, say(Msg::NoDeviceForTarget, key, target, keysOf(devices)));
    std::erase_if(devices, [keys](const DeviceView& device) {
        return std::none_of(keys.begin(), keys.end(),
                            [&device](const std::string& key) { return device.isCalled(key); });
    });
    for (const DeviceView& device : devices)
        if (device.deviceKey != devices.front().deviceKey)
            return makeError(Errc::InvalidArgument, say(Msg::DevicesDiffer, devices.front().key,
                                                        devices.front().deviceKey, device.key, device.deviceKey));
    return devices;
}

Result<> checkDeviceHere(const Target& target)
{
    LATHE_TRY(measure::checkMeasurable(target));
    if (target.traits().sharesCores)
        return {}; // a processor, and this machine has one
    LATHE_TRY(DeviceDirectory::ask(target.kind()).pick(target.text(), {}));
    return {};
}

bool hasDeviceOfClass(const std::string& kind, const std::string& deviceKey)
{
    const DeviceDirectory directory = DeviceDirectory::ask(kind);
    return std::ranges::any_of(directory.all(),
                               [&](const DeviceView& device) { return device.deviceKey == deviceKey; });
}

} // namespace lathe::session
