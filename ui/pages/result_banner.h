#pragma once

#include "core/session/events.h"

#include <QToolBar>

QT_BEGIN_NAMESPACE
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// What came of a run, once it has ended: how much faster the network is, whether that may be believed and why not, and
/// what to do next. Seen while there is a verdict and no run goes on; who closes it sees it again with the next
/// verdict.
class ResultBanner final : public QToolBar
{
    Q_OBJECT

public:
    ResultBanner(Workspace& workspace, QWidget* parent);

    /// Shows or hides it, as the state of the run asks.
    void updateVisible();

signals:
    void exportRequested();
    void checksRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void takeVerdict();
    void fitReasons();
    void fill();
    void fillTexts(const session::VerdictEvent& verdict);
    bool canMeasure() const;
    Workspace& m_workspace;
    QLabel *m_mark = nullptr, *m_headline = nullptr, *m_reasons = nullptr;
    QToolButton *m_again = nullptr, *m_checks = nullptr, *m_export = nullptr, *m_close = nullptr;
    bool m_closed = false; ///< by hand
};

} // namespace lathe::ui
