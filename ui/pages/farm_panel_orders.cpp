#include "core/session/farm_kinds.h"
#include "ui/bridge/farm_link.h"
#include "ui/dialogs/add_device_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/core_text.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/farm_panel.h"

#include <QMessageBox>
#include <QPushButton>

#include <cmath>

// What is done with a device of a farm. All of it waits for another machine, and so is a job; what came of it is said
// beside the buttons as long as the device is chosen.

namespace lathe::ui {

void FarmPanel::tell(const Device& device, const QString& text)
{
    m_told[device].text = text;
    showCurrent();
}

void FarmPanel::selfTest()
{
    const auto view = current();
    if (!view)
        return;
    const Device device(view->key, view->name);
    Told& told = m_told[device];
    if (told.test.isRunning()) {
        told.test.stop();
        tell(device, tr("Stopping the self-test…"));
        return;
    }
    const bool isFree = view->state == session::FarmDeviceState::Free;
    const auto kinds = session::kindsOffered(m_farm.view(), view->key, view->name);
    if (kinds.empty()) {
        tell(device, tr("It does not say what it measures"));
        return;
    }
    told.test = m_orders.run(
        [words = m_farm.words(), device, target = kinds.front()](const JobLink& link) {
            return session::selfTestFarmDevice(words, device.first, device.second, target, link.stopToken());
        },
        [this, device, target = QString::fromStdString(kinds.front())](const Result<session::SelfTest>& result) {
            if (!result) {
                tell(device, result.error().code == Errc::Cancelled
                                 ? tr("Self-test stopped")
                                 : tr("Self-test failed: %1").arg(errorText(result.error())));
                return;
            }
            tell(device, std::isfinite(result->maxRelError)
                             ? tr("Self-test on %1 passed in %2 (relative error %3)")
                                   .arg(target, msText(result->runMs), QString::number(result->maxRelError, 'g', 2))
                             : tr("Self-test on %1 passed in %2").arg(target, msText(result->runMs)));
        });
    tell(device, isFree ? tr("Self-test running…") : tr("The self-test waits until the device is free…"));
}

void FarmPanel::drainOrResume()
{
    using session::FarmDeviceState;
    const auto view = current();
    if (!view)
        return;
    const bool drained = view->state == FarmDeviceState::Drained || view->state == FarmDeviceState::Draining;
    give({view->key, view->name}, drained ? session::FarmOrder::Resume : session::FarmOrder::Drain);
}

void FarmPanel::askToTakeOut()
{
    const auto view = current();
    if (!view)
        return;
    const Device device(view->key, view->name);
    auto* const box = new QMessageBox(
        QMessageBox::Question, tr("Take the device out"),
        tr("%1 leaves the farm: its runner ends once a run that has it is done with it. To bring it back, lathe-runner "
           "has to be started on its machine.")
            .arg(QString::fromStdString(view->name)),
        QMessageBox::NoButton, this);
    box->setObjectName(QStringLiteral("farmLeaveQuestion"));
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* const out = box->addButton(tr("&Take it out"), QMessageBox::AcceptRole);
    out->setObjectName(QStringLiteral("farmLeaveYes"));
    box->addButton(tr("&Keep it"), QMessageBox::RejectRole);
    connect(box, &QMessageBox::buttonClicked, this, [this, device, out](const QAbstractButton* pressed) {
        if (pressed == out)
            give(device, session::FarmOrder::Leave);
    });
    box->open();
}

void FarmPanel::give(const Device& device, session::FarmOrder order)
{
    m_orders.run([words = m_farm.words(), device,
                  order](const JobLink&) { return session::orderDevice(words, device.first, device.second, order); },
                 [this, device, order](const Result<>& done) {
                     if (!done)
                         tell(device, errorText(done.error()));
                     else
                         tell(device, order == session::FarmOrder::Drain    ? tr("No further run gets it")
                                      : order == session::FarmOrder::Resume ? tr("Runs get it again")
                                                                            : tr("It leaves the farm"));
                 });
    tell(device, tr("Telling the device…"));
}

void FarmPanel::pick()
{
    if (const auto view = current())
        emit m_workspace.farmKeyWanted(QString::fromStdString(view->key));
}

void FarmPanel::addDevice()
{
    QStringList keys;
    for (const session::FarmKeyView& key : m_farm.view().keys)
        keys << QString::fromStdString(key.key);
    auto* dialog = new AddDeviceDialog(m_farm.words(), keys, window());
    ManualWindow::setTopic(dialog, QStringLiteral("farm"));
    dialog->show();
}

} // namespace lathe::ui
