#pragma once

#include "core/session/layout_part.h"
#include "core/session/loaded_model.h"
#include "core/store/project.h"

namespace lathe::session {

/// LayoutPart::chooseLayouts().
/// @param project  null: there are the logs' records alone
Result<std::shared_ptr<const NetworkLayouts>> chooseNetworkLayouts(std::shared_ptr<const LoadedModel> model,
                                                                   const store::Project* project,
                                                                   const LayoutRequest& request,
                                                                   const std::stop_token& stop);

} // namespace lathe::session
