#include "ui/pages/reader_bar.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/views/elided_label.h"
#include "ui/views/spacing.h"

#include <QToolButton>

namespace lathe::ui {

ReaderBar::ReaderBar(Workspace& workspace, QWidget* parent)
    : QToolBar(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("readerBar"));
    setMovable(false);
    toggleViewAction()->setVisible(false); // it is there when there is somebody to follow
    m_text = new ElidedLabel(this);
    m_text->setObjectName(QStringLiteral("readerText"));
    m_text->setContentsMargins(spacing::kMedium, spacing::kSmall, spacing::kMedium, spacing::kSmall);
    m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    m_takeOver = new QToolButton(this);
    m_takeOver->setObjectName(QStringLiteral("readerTakeOver"));
    addWidget(m_text);
    addWidget(m_takeOver);
    connect(m_takeOver, &QToolButton::clicked, this, &ReaderBar::takeOverRequested);
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &ReaderBar::fill);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, &QToolBar::hide);
    connect(&m_workspace, &Workspace::writerChanged, this, &ReaderBar::fill);
    retranslated(this, [this] {
        setWindowTitle(tr("Reader"));
        m_takeOver->setText(tr("Take over"));
        fill();
    });
    hide();
}

void ReaderBar::updateVisible()
{
    setVisible(m_workspace.follow() != nullptr);
}

void ReaderBar::fill()
{
    const session::FollowPart* const follow = m_workspace.follow();
    setVisible(follow != nullptr);
    if (follow == nullptr)
        return;
    const std::optional<session::ProjectWriter> writer = follow->writer();
    const QString who = writer ? coreText(session::sayWriter(*writer)) : QString();
    m_text->setText(writer ? tr("Read-only: %1 is writing to this project. What it adds is shown here.").arg(who)
                           : tr("Read-only: the program that wrote to this project has ended."));
    m_text->setToolTip(m_text->text());
    m_takeOver->setEnabled(!writer);
    m_takeOver->setToolTip(writer ? tr("Available once %1 has ended").arg(who)
                                  : tr("Open the project for writing, so that it can be tuned on here"));
    // What can be done now stands out.
    m_text->setAutoFillBackground(!writer);
    m_text->setBackgroundRole(QPalette::Highlight);
    m_text->setForegroundRole(writer ? QPalette::WindowText : QPalette::HighlightedText);
}

} // namespace lathe::ui
