#pragma once

#include "core/session/farm_history.h"
#include "core/session/farm_view.h"

#include <QTabWidget>

QT_BEGIN_NAMESPACE
class QPlainTextEdit;
QT_END_NAMESPACE

namespace lathe::ui {

class EmptyState;
class FarmFaultModel;
class HealthCurves;
class TableView;

/// One device of a farm: what it is, the curves of its health, its faults. A tab each.
class FarmDetail final : public QTabWidget
{
    Q_OBJECT

public:
    explicit FarmDetail(QWidget* parent = nullptr);

    /// Null: none is chosen. `history`: null while nothing is known. Told each second.
    void setDevice(const session::FarmDeviceView* device, const session::FarmHistory* history);

private:
    void showAbout(const session::FarmDeviceView* device);
    void showHealth(const session::FarmHistory::Device* device, double seconds);
    QPlainTextEdit* m_about = nullptr;
    HealthCurves* m_health = nullptr;
    TableView* m_faults = nullptr;
    FarmFaultModel* m_faultModel = nullptr;
    EmptyState* m_empty = nullptr;
    bool m_isChosen = false;
};

} // namespace lathe::ui
