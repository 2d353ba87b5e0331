#pragma once

#include "core/session/session.h"
#include "ui/bridge/jobs.h"
#include "ui/pages/page.h"

#include <map>
#include <utility>

QT_BEGIN_NAMESPACE
class QLabel;
class QListWidget;
class QPushButton;
class QTabWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class FarmPanel;
class HardwareModel;
class TableView;
class Workspace;

/// Two tabs: this machine's devices, and those of a farm (FarmPanel).
///
/// Of this machine, what can measure here, whether it works, and the hardware parameters that search respects: those of
/// the open network's target can be edited. Devices that nobody could ask before are asked for when the page is seen.
class DevicesPage final : public Page
{
    Q_OBJECT

public:
    DevicesPage(Workspace& workspace, QWidget* parent);

    void contribute(WindowActions& actions) override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Tested
    {
        bool running = false;
        QString failure;
        session::SelfTest result;
    };

    QWidget* makeHere();
    void fill();
    void showCurrent();
    void updateButtons();
    void test();
    void reset();
    /// Of the list's current row; null: the open network's target.
    const session::DeviceView* current() const;
    std::pair<QString, QString> testSubject() const; ///< target and device; empty: nothing can be tested

    Workspace& m_workspace;
    std::map<std::pair<QString, QString>, Tested> m_tests; ///< by target and device
    JobLane m_jobs{JobLane::Width::AllAtOnce};
    QTabWidget* m_tabs = nullptr;
    FarmPanel* m_farm = nullptr;
    QListWidget* m_list = nullptr;
    TableView* m_table = nullptr;
    HardwareModel* m_model = nullptr;
    QLabel *m_state = nullptr, *m_problem = nullptr;
    QPushButton *m_test = nullptr, *m_refresh = nullptr, *m_reset = nullptr;
};

} // namespace lathe::ui
