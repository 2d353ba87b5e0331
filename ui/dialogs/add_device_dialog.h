#pragma once

#include "core/session/remote_claim.h"
#include "ui/bridge/jobs.h"

#include <QDialog>
#include <QStringList>

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

/// Says what to run on another machine so that its devices become part of a farm, with a fresh token where the broker
/// wants one.
class AddDeviceDialog final : public QDialog
{
    Q_OBJECT

public:
    /// @param keys  that the farm has
    AddDeviceDialog(session::BrokerWords broker, const QStringList& keys, QWidget* parent);

private:
    void make();
    void showResult(bool made, bool withToken);

    session::BrokerWords m_broker;
    QComboBox* m_key = nullptr;
    QLabel *m_keyLabel = nullptr, *m_about = nullptr, *m_lineLabel = nullptr, *m_tokenLabel = nullptr,
           *m_says = nullptr;
    QLineEdit *m_line = nullptr, *m_token = nullptr;
    QPushButton *m_make = nullptr, *m_copyLine = nullptr, *m_copyToken = nullptr, *m_folder = nullptr;
    JobLane m_jobs;
};

} // namespace lathe::ui
