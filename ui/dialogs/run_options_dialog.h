#pragma once

#include "core/session/options/search_choice.h"
#include "core/session/options/tuner_views.h"

#include <QDialog>

#include <vector>

QT_BEGIN_NAMESPACE
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
QT_END_NAMESPACE

namespace lathe::ui {

class TableView;
class TunerParameterModel;

/// How the runs to come find candidates, and for which tasks: the policy; of templates the preset, the tuner and its
/// parameters. Says what a preset sets. The options are rows of the command line's table.
class RunOptionsDialog final : public QDialog
{
    Q_OBJECT

public:
    /// `usual`: what holds beside the choice, of the project's latest run; `tasks`: how many the network has.
    RunOptionsDialog(const session::TuneOptions& usual, const session::SearchChoice& choice, int tasks,
                     QWidget* parent);

    session::SearchChoice choice() const;

signals:
    void chosen(const lathe::session::SearchChoice& choice);

private:
    void makeWidgets();
    void addRow(QFormLayout& form, const char* label, QWidget* field, QWidget* below = nullptr);
    void fillLists(const session::SearchChoice& choice);
    void showTuner(const std::vector<std::string>& settings);
    void refresh();
    void onPolicy();
    void onPreset();
    void restoreUsual();
    void retranslate();
    void confirm();
    QString problem() const;
    const session::PolicyView& policy() const;
    const session::TunerView& tuner() const;
    const session::TunerView& tunerNamed(const std::string& name) const;
    std::string usualTuner() const;

    session::TuneOptions m_usual;
    int m_taskCount = 0;
    std::vector<session::PolicyView> m_policies;
    std::vector<session::TunerView> m_tuners;
    QComboBox *m_policy = nullptr, *m_preset = nullptr, *m_tuner = nullptr;
    QLabel *m_presetHelp = nullptr, *m_tunerHelp = nullptr, *m_problem = nullptr;
    TunerParameterModel* m_parameters = nullptr;
    TableView* m_table = nullptr;
    QSpinBox* m_earlyStop = nullptr;
    QLineEdit *m_operators = nullptr, *m_tasks = nullptr;
    QPushButton *m_ok = nullptr, *m_cancel = nullptr, *m_restore = nullptr;
};

} // namespace lathe::ui
