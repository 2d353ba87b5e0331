#pragma once

#include "core/session/farm_orders.h"
#include "core/session/farm_view.h"
#include "ui/bridge/jobs.h"

#include <QSortFilterProxyModel>
#include <QWidget>

#include <map>
#include <optional>
#include <string>
#include <utility>

QT_BEGIN_NAMESPACE
class QLabel;
class QLineEdit;
class QPushButton;
class QTabWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class EmptyState;
class FarmDetail;
class FarmDeviceModel;
class FarmKeyModel;
class FarmLink;
class FarmQueueModel;
class TableView;
class WindowActions;
class Workspace;

/// The devices behind a broker: who is there, who has which, who waits; and what can be done with one of them. Shows
/// what the workspace's FarmLink hears.
class FarmPanel final : public QWidget
{
    Q_OBJECT

public:
    FarmPanel(Workspace& workspace, QWidget* parent);

    void contribute(WindowActions& actions);

signals:
    void frontRequested(); ///< somebody wants to do something that is done here

private:
    using Device = std::pair<std::string, std::string>; ///< key and name
    /// What was last said of a device, and the self-test that goes on there.
    struct Told
    {
        QString text;
        Job test;
    };

    QWidget* makeBar();
    QWidget* makeDevices();
    QWidget* makeQueue();
    void retranslate();
    void connectOrLeave();
    void wantConnection();
    void browseToken();
    void showFarm();
    void showPlace();
    void showCurrent();
    QString stateText() const;
    QString emptyText() const;
    std::optional<session::FarmDeviceView> current() const;
    void selfTest();
    void drainOrResume();
    void askToTakeOut();
    void give(const Device& device, session::FarmOrder order);
    void tell(const Device& device, const QString& text);
    void pick();
    void addDevice();

    Workspace& m_workspace;
    FarmLink& m_farm;
    QLabel *m_brokerLabel = nullptr, *m_tokenLabel = nullptr;
    QLineEdit *m_broker = nullptr, *m_token = nullptr;
    QPushButton *m_browse = nullptr, *m_connect = nullptr, *m_add = nullptr;
    QLabel *m_state = nullptr, *m_said = nullptr;
    TableView *m_table = nullptr, *m_queue = nullptr, *m_keys = nullptr;
    FarmDeviceModel* m_devices = nullptr;
    QSortFilterProxyModel* m_sorted = nullptr;
    FarmQueueModel* m_queueModel = nullptr;
    FarmKeyModel* m_keyModel = nullptr;
    EmptyState *m_empty = nullptr, *m_queueEmpty = nullptr;
    FarmDetail* m_detail = nullptr;
    QWidget *m_queueTab = nullptr, *m_placeFields = nullptr, *m_deviceButtons = nullptr;
    QPushButton *m_test = nullptr, *m_drain = nullptr, *m_leave = nullptr, *m_pick = nullptr;
    QAction *m_connectAction = nullptr, *m_addAction = nullptr;
    std::map<Device, Told> m_told;
    JobLane m_orders{JobLane::Width::AllAtOnce};
};

} // namespace lathe::ui
