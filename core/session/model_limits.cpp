#include "core/session/model_limits.h"

#include "core/target/hardware_text.h"

namespace lathe::session {

std::shared_ptr<const LoadedModel> ModelLimits::model() const
{
    const std::scoped_lock lock(m_mutex);
    return m_limited ? m_limited : m_model;
}

std::vector<DeviceView::Limit> ModelLimits::all() const
{
    std::vector<DeviceView::Limit> limits;
    const auto limited = model();
    for (const auto& [name, limit] : limited->hardware.limits)
        limits.push_back({name, limit.value, limit.origin});
    return limits;
}

Result<> ModelLimits::take(Hardware limits)
{
    auto limited = std::make_shared<LoadedModel>(*m_model);
    const std::scoped_lock lock(m_mutex);
    limited->hardware.takeDeviceFigures(m_figures);
    LATHE_TRY(putLimits(*limited, limits));
    m_limits = std::move(limits);
    m_limited = m_limits.limits.empty() && m_figures.limits.empty() ? nullptr : std::move(limited);
    return {};
}

Hardware ModelLimits::own() const
{
    Hardware hardware = defaultHardware(m_model->target);
    const std::scoped_lock lock(m_mutex);
    hardware.takeDeviceFigures(m_figures);
    return hardware;
}

Result<std::shared_ptr<const LoadedModel>> ModelLimits::deviceOpened(std::string_view device)
{
    if (!m_model->target.traits().takesDeviceFigures)
        return model();
    const Hardware figures = figuresOf(device);
    Hardware limits;
    {
        const std::scoped_lock lock(m_mutex);
        m_figures = figures;
        limits = m_limits;
    }
    LATHE_TRY(take(std::move(limits)));
    // What is compiled later, without a device at hand, goes by the same figures.
    if (m_project)
        LATHE_TRY(m_project->setNote(figuresNote(), figures.limits.empty() ? std::string() : hardwareText(figures)));
    return model();
}

Result<> ModelLimits::restore()
{
    if (m_project && m_model->target.traits().takesDeviceFigures) {
        LATHE_TRY_ASSIGN(const std::string told, m_project->note(figuresNote()));
        m_figures = deviceFigures(told);
    }
    if (!m_model->spec.hardware.empty()) {
        LATHE_TRY_ASSIGN(Hardware given, readHardware(m_model->spec.hardware));
        LATHE_TRY(take(given));
        return m_project && !m_project->readOnly() ? m_project->setNote(limitsNote(), hardwareText(m_limits))
                                                   : Result<>();
    }
    if (!m_project)
        return {};
    LATHE_TRY_ASSIGN(const std::string text, m_project->note(limitsNote()));
    Hardware limits;
    if (!text.empty()) {
        LATHE_TRY_ASSIGN(limits, parseHardware(text, "project"));
    }
    return limits.limits.empty() && m_figures.limits.empty() ? Result<>() : take(std::move(limits));
}

Result<> ModelLimits::set(std::string_view name, std::optional<std::int64_t> value)
{
    Hardware limits;
    {
        const std::scoped_lock lock(m_mutex);
        limits = m_limits;
    }
    const std::int64_t before = own().get(name);
    LATHE_TRY(checkLimit(m_model->target, name, value.value_or(before)));
    if (value && *value != before)
        limits.limits[std::string(name)] = {*value, "edited"};
    else
        limits.limits.erase(std::string(name));
    if (m_project)
        LATHE_TRY(m_project->setNote(limitsNote(), limits.limits.empty() ? std::string() : hardwareText(limits)));
    return take(std::move(limits));
}

} // namespace lathe::session
