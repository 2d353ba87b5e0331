#include "ui/models/trial_filter.h"

#include "ui/models/workspace.h"

namespace lathe::ui {

TrialFilter& TrialFilter::of(Workspace& workspace)
{
    if (auto* filter = workspace.findChild<TrialFilter*>(QString(), Qt::FindDirectChildrenOnly))
        return *filter;
    return *new TrialFilter(&workspace);
}

void TrialFilter::set(const session::TrialQuery& query, bool show)
{
    m_query = query;
    emit changed();
    if (show)
        emit showRequested();
}

} // namespace lathe::ui
