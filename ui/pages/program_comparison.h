#pragma once

#include "core/session/project/program_reader.h"
#include "ui/bridge/jobs.h"
#include "ui/models/compare_model.h"

#include <QWidget>

#include <memory>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QLabel;
QT_END_NAMESPACE

namespace lathe::ui {

class DiffView;

/// One task's programs in two of the things compared: schedule, loops or generated code, line by line.
class ProgramComparison final : public QWidget
{
    Q_OBJECT

public:
    explicit ProgramComparison(QWidget* parent);

    void setCompared(std::shared_ptr<const Compared> compared);
    void setTask(const QString& key, const QString& name);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void ask();
    void retranslate();
    void fillForms();
    void fillSides();

    std::shared_ptr<session::ProgramReader> m_reader; ///< used by one job at a time
    std::shared_ptr<const Compared> m_compared;
    QString m_task, m_name, m_shown; ///< m_shown: what the texts are of
    QLabel* m_title = nullptr;
    QComboBox *m_left = nullptr, *m_right = nullptr, *m_what = nullptr, *m_how = nullptr;
    QCheckBox* m_onlyChanges = nullptr;
    DiffView* m_diff = nullptr;
    JobLane m_jobs;
    Job m_asked; ///< the latest question: older ones are not answered
};

} // namespace lathe::ui
