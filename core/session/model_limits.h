#pragma once

#include "core/session/loaded_model.h"
#include "core/store/project.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// The hardware parameters of an open network: the target's own, what an opened device told of itself, and above them
/// those that a person or a file set. Kept in the project, where there is one. model() and all() may be called from any
/// thread; what changes something, from one at a time.
class ModelLimits
{
public:
    /// `project`: null for none; it outlives this.
    ModelLimits(std::shared_ptr<const LoadedModel> model, store::Project* project)
        : m_model(std::move(model))
        , m_project(project)
    {
    }

    /// What was given when the network was opened is stored; else what is stored counts. Errors: those of reading and
    /// writing the project, of parsing parameters, and of putLimits().
    Result<> restore();
    /// The network with all parameters.
    std::shared_ptr<const LoadedModel> model() const;
    std::vector<DeviceView::Limit> all() const;
    /// Nothing: back to the target's, or the device's, own. Errors: those of checkLimit() and of writing the project.
    Result<> set(std::string_view name, std::optional<std::int64_t> value);
    /// Takes what the device tells of its hardware, where the target goes by that, and returns model(). Called by the
    /// run, on its thread.
    Result<std::shared_ptr<const LoadedModel>> deviceOpened(std::string_view device);

private:
    Result<> take(Hardware limits);
    Hardware own() const; ///< of the target, with what a device told
    std::string limitsNote() const { return "hardware " + m_model->target.text(); }
    std::string figuresNote() const { return "device figures " + m_model->target.text(); }

    const std::shared_ptr<const LoadedModel> m_model;
    store::Project* const m_project;
    mutable std::mutex m_mutex; ///< an export reads on a thread of its own
    Hardware m_limits; ///< those set by a person or file
    Hardware m_figures; ///< of the device that was opened last, where they replace presets
    std::shared_ptr<const LoadedModel> m_limited; ///< null: none
};

} // namespace lathe::session
