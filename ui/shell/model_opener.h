#pragma once

#include "core/session/session.h"
#include "ui/bridge/jobs.h"
#include "ui/dialogs/input_sizes_dialog.h"

#include <QObject>
#include <QPointer>

QT_BEGIN_NAMESPACE
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// Opens models and projects, and asks before for the sizes of inputs that the model leaves open, where neither its
/// project knows them nor the network that is open has them. GUI thread.
class ModelOpener final : public QObject
{
    Q_OBJECT

public:
    ModelOpener(Workspace& workspace, QWidget& window);

    /// As Workspace::open(). A later call makes an earlier one stale.
    void open(const QString& source, const QString& target);
    /// Asks for other sizes of what is open, or of a model that could not be opened, then opens it in these.
    void askFor(const QString& source, const QString& target);
    /// Between open() and the answer.
    bool isAsking() const { return m_reading.isRunning() || m_dialog != nullptr; }

signals:
    /// Nothing is opened: nobody said how large the inputs are, or they cannot be.
    void givenUp();

private:
    void read(const QString& source, const QString& target, bool always);
    void ask(const QString& source, const QString& target, const frontend::OpenInputs& open);
    void forget(); ///< what was asked for before

    Workspace& m_workspace;
    QWidget& m_window;
    JobLane m_jobs;
    Job m_reading;
    QPointer<InputSizesDialog> m_dialog;
};

} // namespace lathe::ui
