#pragma once

#include "core/session/history.h"
#include "ui/models/history_reader.h"

#include <QTimer>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class RoundModel;
class Workspace;

/// How well the latest run was measured: spread of repeats, drift of the control kernel, clocks, temperature, load; of
/// each device where there are several or a broker. Reads rounds as they come, on a thread, and with them how long each
/// device was busy, for a table of its own.
class QualityPanel final : public QWidget
{
    Q_OBJECT

public:
    QualityPanel(Workspace& workspace, QWidget* parent);

    /// Time by device: what each of them did, and what this machine did for all of them. To be placed elsewhere.
    QWidget* deviceTable() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void reset();
    void read();
    void fill();
    void fillDevices();
    void fillQualityOfDevices();
    bool isLookedAt() const;
    Workspace& m_workspace;
    RoundModel& m_run;
    HistoryReader m_reader;
    std::vector<session::QualityView> m_rounds;
    bool m_reading = false;
    QTimer m_refresh;
    QLabel* m_summary = nullptr;
    QTreeWidget *m_table = nullptr, *m_devices = nullptr, *m_ofDevices = nullptr;
};

} // namespace lathe::ui
