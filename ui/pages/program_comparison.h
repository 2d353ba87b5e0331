#pragma once

#include "core/session/program_reader.h"
#include "ui/models/compare_model.h"

#include <QThreadPool>
#include <QWidget>

#include <atomic>

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
    ~ProgramComparison() override;

    void setCompared(std::shared_ptr<const Compared> compared);
    void setTask(const QString& key, const QString& name);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void ask();
    void retranslate();
    void fillSides();

    session::ProgramReader m_reader; ///< used by the pool's one thread alone
    std::shared_ptr<const Compared> m_compared;
    QString m_task, m_name, m_shown; ///< m_shown: what the texts are of
    std::atomic<quint64> m_token = 0; ///< of the latest question: older ones are not answered
    QLabel* m_title = nullptr;
    QComboBox *m_left = nullptr, *m_right = nullptr, *m_what = nullptr, *m_how = nullptr;
    QCheckBox* m_onlyChanges = nullptr;
    DiffView* m_diff = nullptr;
    QThreadPool m_pool; ///< last: its jobs end before anything they use goes
};

} // namespace lathe::ui
