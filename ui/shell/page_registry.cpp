#include "ui/shell/page_registry.h"

#include "ui/pages/compare_page.h"
#include "ui/pages/curves_page.h"
#include "ui/pages/devices_page.h"
#include "ui/pages/failures_page.h"
#include "ui/pages/issues_page.h"
#include "ui/pages/log_page.h"
#include "ui/pages/network_page.h"
#include "ui/pages/properties_page.h"
#include "ui/pages/records_page.h"
#include "ui/pages/scheduler_page.h"
#include "ui/pages/tasks_page.h"
#include "ui/pages/templates_page.h"
#include "ui/pages/time_page.h"

#include <QtGlobal>

namespace lathe::ui {

namespace {

template<typename T>
Page* make(Workspace& workspace, QWidget* parent)
{
    return new T(workspace, parent);
}

constexpr PageEntry kPages[] = {
    {"network", QT_TRANSLATE_NOOP("Pages", "Network"), PagePlace::Center, make<NetworkPage>},
    {"curves", QT_TRANSLATE_NOOP("Pages", "Curves"), PagePlace::Center, make<CurvesPage>},
    {"scheduler", QT_TRANSLATE_NOOP("Pages", "Scheduler"), PagePlace::Center, make<SchedulerPage>},
    {"records", QT_TRANSLATE_NOOP("Pages", "Records"), PagePlace::Center, make<RecordsPage>},
    {"time", QT_TRANSLATE_NOOP("Pages", "Time"), PagePlace::Center, make<TimePage>},
    {"compare", QT_TRANSLATE_NOOP("Pages", "Compare"), PagePlace::Center, make<ComparePage>},
    {"templates", QT_TRANSLATE_NOOP("Pages", "Templates"), PagePlace::Center, make<TemplatesPage>},
    {"tasks", QT_TRANSLATE_NOOP("Pages", "Tasks"), PagePlace::Left, make<TasksPage>},
    {"properties", QT_TRANSLATE_NOOP("Pages", "Selected task"), PagePlace::Right, make<PropertiesPage>},
    {"failures", QT_TRANSLATE_NOOP("Pages", "Failures"), PagePlace::Bottom, make<FailuresPage>},
    {"issues", QT_TRANSLATE_NOOP("Pages", "Issues"), PagePlace::Bottom, make<IssuesPage>},
    {"devices", QT_TRANSLATE_NOOP("Pages", "Devices"), PagePlace::Bottom, make<DevicesPage>},
    {"log", QT_TRANSLATE_NOOP("Pages", "Log"), PagePlace::Bottom, make<LogPage>},
};

} // namespace

std::span<const PageEntry> pageTable()
{
    return kPages;
}

} // namespace lathe::ui
