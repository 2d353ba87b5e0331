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

class CodeView;
class ListingPanel;

/// One trial: figures, schedule steps, loop tree, program, features, and a tab for each listing that its back end
/// names. Code is made in a builder process when its tab is first looked at.
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
    /// The note was changed elsewhere.
    void setNote(const QString& trial, const QString& note);
    void setReadOnly(const QString& why); ///< empty: notes are taken
    /// Keeps what was typed into the note so far.
    void commitNote();

signals:
    void shown(const QString& trial, int task); ///< what was asked for is there
    void noteEdited(const QString& trial, const QString& before, const QString& after);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    CodeView* addText(const char* name);
    void makeCopyMenu();
    void takeListings(const std::vector<ListingKind>& kinds);
    void showDetail(const session::TrialDetail& detail);
    void fillOverview(const session::TrialDetail& detail);
    void loadListing();
    void retranslate();
    QString textOf(QWidget* tab) const;

    HistoryReader m_reader, m_lister; ///< a compile does not hold up what is selected next
    QStringList m_taskNames;
    std::int64_t m_row = 0;
    QString m_readOnly;
    Job m_asked;
    QLabel* m_title = nullptr;
    QPlainTextEdit* m_note = nullptr;
    QTabWidget* m_tabs = nullptr;
    QTreeWidget* m_overview = nullptr;
    QTreeWidget* m_features = nullptr;
    CodeView *m_steps = nullptr, *m_loops = nullptr, *m_nest = nullptr;
    std::vector<ListingPanel*> m_listings;
    session::TrialDetail m_detail;
};

} // namespace lathe::ui
