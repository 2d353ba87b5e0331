#include "ui/bridge/device_list.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <memory>

namespace lathe::ui {

void DeviceList::refresh()
{
    if (m_asking)
        return;
    m_asking = true;
    QThreadPool::globalInstance()->start([self = QPointer(this)] {
        auto directory = std::make_shared<session::DeviceDirectory>(session::DeviceDirectory::ask());
        QMetaObject::invokeMethod(
            qApp,
            [self, directory] {
                if (!self)
                    return;
                self->m_directory = std::move(*directory);
                self->m_asking = false;
                self->m_known = true;
                emit self->changed();
            },
            Qt::QueuedConnection);
    });
    emit changed();
}

void DeviceList::ensureAsked()
{
    if (!m_known)
        refresh();
}

} // namespace lathe::ui
