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
#include <utility>
#include <vector>

// What is done with a device of a farm. All of it waits for another machine, and so is a job; what came of it is said
// beside the buttons as long as the device is chosen.

namespace lathe::ui {

void FarmPanel::tell(const Device& device, const QString& text)
{
    m_told[device].text = text;
    showCurrent();
}

namespace {

QString selfTestText(const QString& kind, const Result<session::SelfTest>& test)
{
    if (!test && test.error().code == Errc::Cancelled)
        return FarmPanel::tr("Self-test stopped");
    if (!test)
        return FarmPanel::tr("Self-test on %1 failed: %2").arg(kind, errorText(test.error()));
    const QString took = msText(test->runMs);
    return std::isfinite(test->maxRelError)
               ? FarmPanel::tr("Self-test on %1 passed in %2 (relative error %3)")
                     .arg(kind, took, QString::number(test->maxRelError, 'g', 2))
               : FarmPanel::tr("Self-test on %1 passed in %2").arg(kind, took);
}

} // namespace

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
    using Tests = std::vector<std::pair<std::string, Result<session::SelfTest>>>; // by kind
    told.test = m_orders.run(
        [words = m_farm.words(), device, kinds](const JobLink& link) {
            Tests tests;
            for (const std::string& kind : kinds)
                if (!link.stopToken().stop_requested())
                    tests.emplace_back(kind, session::selfTestFarmDevice(words, device.first, device.second, kind,
                                                                         link.stopToken()));
            return tests;
        },
        [this, device](const Tests& tests) {
            QStringList lines;
            for (const auto& [kind, test] : tests)
                lines << selfTestText(QString::fromStdString(kind), test);
            tell(device, lines.join(QLatin1Char('\n')));
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
