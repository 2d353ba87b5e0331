#pragma once

#include "core/session/history.h"
#include "ui/models/history_reader.h"

#include <QStringList>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QPlainTextEdit;
class QTabWidget;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

/// One trial: figures, schedule steps, loop tree, program, generated code, features. Code is made in a builder process when
/// its tab is first looked at.
class RecordDetailPage final : public QWidget
{
    Q_OBJECT

public:
    explicit RecordDetailPage(QWidget* parent = nullptr);
    ~RecordDetailPage() override;

    void setHistory(std::unique_ptr<session::History> history);
    void setTaskNames(const QStringList& names) { m_taskNames = names; }
    void showRow(std::int64_t row); ///< of the project; 0: none
    std::int64_t row() const { return m_row; }

private:
    QPlainTextEdit* addText(const char* name);
    void showDetail(const session::TrialDetail& detail);
    void fillOverview(const session::TrialDetail& detail);
    void loadListing();
    void retranslate();

    HistoryReader m_reader, m_lister; ///< a compile does not hold up what is selected next
    QStringList m_taskNames;
    std::int64_t m_row = 0;
    std::stop_source m_asked;
    QLabel* m_title = nullptr;
    QTabWidget* m_tabs = nullptr;
    QTreeWidget* m_overview = nullptr;
    QTreeWidget* m_features = nullptr;
    QPlainTextEdit *m_steps = nullptr, *m_loops = nullptr, *m_nest = nullptr, *m_ir = nullptr, *m_assembly = nullptr;
    session::TrialDetail m_detail;
};

} // namespace lathe::ui
