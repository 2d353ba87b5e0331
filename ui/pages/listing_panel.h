#pragma once

#include "core/session/history.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QSplitter;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class CodeView;

/// One listing of a kernel beside the program that it came from: a click on a statement or loop marks the lines that it
/// became, a click on a line its statement. The hot loop, spills and reloads have colours and are counted.
class ListingPanel final : public QWidget
{
    Q_OBJECT

public:
    explicit ListingPanel(ListingKind kind, QWidget* parent = nullptr);

    const ListingKind& kind() const { return m_kind; }
    void setListing(session::Listing listing);
    void setMessage(const QString& text); ///< instead: it is being compiled, or could not be
    CodeView* code() const { return m_code; }
    CodeView* program() const { return m_program; }
    /// The same in a window of its own, which stays as it is.
    ListingPanel* openLarger();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void retranslate();
    void chooseStatement(int line);
    void chooseLine(int line);
    void setSides();
    QString facts() const;

    ListingKind m_kind;
    session::Listing m_listing;
    QLabel* m_facts = nullptr;
    QToolButton *m_hot = nullptr, *m_larger = nullptr;
    QSplitter* m_splitter = nullptr;
    CodeView *m_program = nullptr, *m_code = nullptr;
};

/// The lines of a statement of a printed program and of what is in it: those below it that are indented further.
std::pair<int, int> statementLines(const QStringList& program, int line);

} // namespace lathe::ui
