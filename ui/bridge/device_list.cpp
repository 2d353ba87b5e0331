#include "ui/bridge/device_list.h"

namespace lathe::ui {

void DeviceList::refresh()
{
    if (m_asking.isRunning())
        return;
    m_asking = m_jobs.run([](const JobLink&) { return session::DeviceDirectory::ask(); },
                          [this](session::DeviceDirectory directory) {
                              m_directory = std::move(directory);
                              m_known = m_directory.isAnswered(); // else whoever needs it next asks once more
                              emit changed();
                          });
    emit changed();
}

void DeviceList::ensureAsked()
{
    if (!m_known)
        refresh();
}

} // namespace lathe::ui
