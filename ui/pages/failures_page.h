#pragma once

#include "core/session/events.h"
#include "ui/models/history_reader.h"
#include "ui/pages/page.h"

#include <QTimer>

QT_BEGIN_NAMESPACE
class QAction;
class QLabel;
class QPlainTextEdit;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

class FailureModel;
class EmptyState;
class TableView;
class TrialFilter;
class Workspace;

/// Failed trials by stage and cause, with one example in full and what helps against it. The chosen cause restricts the
/// records.
class FailuresPage final : public Page
{
    Q_OBJECT

public:
    FailuresPage(Workspace& workspace, QWidget* parent);
    ~FailuresPage() override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeTable();
    QWidget* makeSide();
    void connectActions();
    void connectWorkspace();
    void retranslate();
    void onOpened();
    void onEvents(const std::vector<session::Event>& events);
    void read();
    void readAgain();
    void showExample();
    void showCurrent();
    void updateButtons();
    void restrictTo(bool show);
    void cure();
    void retry();
    void copyCommand();
    session::TrialQuery currentQuery() const;

    Workspace& m_workspace;
    TrialFilter& m_filter;
    HistoryReader m_reader;
    FailureModel* m_model = nullptr;
    TableView* m_table = nullptr;
    EmptyState* m_empty = nullptr;
    QLabel *m_summary = nullptr, *m_advice = nullptr;
    QPlainTextEdit* m_text = nullptr;
    QPushButton *m_show = nullptr, *m_example = nullptr, *m_cure = nullptr, *m_retry = nullptr;
    QAction* m_command = nullptr;
    QTimer m_refresh;
    bool m_stale = true, m_open = false;
    double m_seconds = 0; ///< that the latest reading took
};

} // namespace lathe::ui
