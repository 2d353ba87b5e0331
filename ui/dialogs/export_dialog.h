#pragma once

#include "core/session/session.h"
#include "ui/models/farm_offer.h"

#include <QDialog>
#include <QTimer>

#include <utility>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QGridLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
QT_END_NAMESPACE

namespace lathe::ui {

class CoverageModel;
class SessionBridge;
class TableView;

/// Export of a deploy library: what each function would run, where to and how, progress, then the verified error and
/// the measured time beside the estimate. Default schedules are refused until they are allowed. Not modal: the run goes
/// on behind it.
class ExportDialog final : public QDialog
{
    Q_OBJECT

public:
    ExportDialog(SessionBridge& bridge, const QString& suggestedFile, QWidget* parent = nullptr);

    /// Keys of a farm that the library can be sent to, to be verified and measured there. `picked` is one of them, or
    /// empty: this machine.
    void offerFarm(const FarmOffer& farm, const QString& picked);
    /// While an export goes on, Escape and Cancel end that, and the dialog stays.
    void reject() override;

private:
    void makeOptions();
    void makeTable();
    void makeOutcome();
    QHBoxLayout* makeButtons();
    QGridLayout* arrangeOptions();
    void connectBridge();
    void takeCoverage(const session::Coverage& coverage);
    void exportNow();
    void readCoverage();
    void showCoverage();
    /// "0.4 % above the estimate of 3.1 ms".
    static QString apartText(double measuredMs, double estimatedMs);
    void showReport(const session::CompileReport& report);
    void showCommand();
    void readDestination(); ///< what is in the way of the files
    void takeDestination(const Result<>& kept, const Result<>& replaced);
    void showDestination();
    bool canRun() const; ///< where it is to be verified and measured
    void showWhere(); ///< what can be done there
    void updateButtons(); ///< which buttons can be pressed, and why not
    void retranslate();
    session::CompileOptions options() const;

    SessionBridge& m_bridge;
    FarmLink::Place m_farm;
    std::pair<bool, bool> m_wanted = {true, true}; ///< to verify and to measure, where that can be
    session::Coverage m_coverage;
    bool m_covered = false; ///< m_coverage is known
    bool m_blocked = false; ///< the files cannot be written, or it is not known yet
    bool m_looked = false; ///< of the file and the name that are there now is known what follows
    Result<> m_kept, m_replaced; ///< whether they can be written as they are, and in place of others
    QTimer m_pause;
    QLabel *m_fileLabel = nullptr, *m_nameLabel = nullptr, *m_threadsLabel = nullptr, *m_whereLabel = nullptr,
           *m_targetLabel = nullptr, *m_target = nullptr;
    QLabel *m_summary = nullptr, *m_inTheWay = nullptr, *m_result = nullptr, *m_command = nullptr;
    QLineEdit *m_file = nullptr, *m_name = nullptr;
    QSpinBox* m_threads = nullptr;
    QComboBox* m_where = nullptr; ///< its data: a key of the farm; empty: this machine
    QCheckBox *m_allowDefault = nullptr, *m_strict = nullptr, *m_verify = nullptr, *m_benchmark = nullptr,
              *m_overwrite = nullptr;
    QPushButton *m_browse = nullptr, *m_export = nullptr, *m_folder = nullptr, *m_copy = nullptr, *m_close = nullptr;
    QProgressBar* m_progress = nullptr;
    CoverageModel* m_model = nullptr;
    TableView* m_table = nullptr;
};

} // namespace lathe::ui
