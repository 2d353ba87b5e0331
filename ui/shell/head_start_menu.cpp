#include "ui/shell/head_start_menu.h"

#include "core/session/head_start.h"
#include "ui/models/language.h"
#include "ui/models/run_defaults.h"

#include <QActionGroup>
#include <QFileDialog>
#include <QFileInfo>

namespace lathe::ui {

namespace {

const QString kNone = QString::fromLatin1(session::kNoHeadStart.data(),
                                          static_cast<qsizetype>(session::kNoHeadStart.size()));

} // namespace

HeadStartMenu::HeadStartMenu(QWidget* parent)
    : QMenu(parent)
    , m_choice(usualHeadStart())
{
    setObjectName(QStringLiteral("headStartMenu"));
    setToolTipsVisible(true);
    auto* group = new QActionGroup(this);
    const auto option = [this, group](const char* name, auto&& choose) {
        QAction* action = addAction(QString(), this, choose);
        action->setObjectName(QLatin1String(name));
        action->setCheckable(true);
        group->addAction(action);
        return action;
    };
    m_installed = option("headStartInstalled", [this] { choose({}); });
    m_none = option("headStartNone", [this] { choose(kNone); });
    m_file = option("headStartFile", [this] { showChoice(); }); // seen while it is chosen
    m_browse = addAction(QString(), this, [this] {
        const QString file = QFileDialog::getOpenFileName(parentWidget(), tr("Start runs with"), {},
                                                          tr("Head starts (*.headstart)"));
        if (!file.isEmpty())
            choose(file);
    });
    m_browse->setObjectName(QStringLiteral("headStartBrowse"));
    retranslated(this, [this] {
        setTitle(tr("Start &with"));
        m_installed->setToolTip(
            tr("Candidates and measurements of similar tasks, if some are installed for the target"));
        m_none->setText(tr("&Nothing"));
        m_none->setToolTip(tr("Runs start without results of others, for comparisons"));
        m_browse->setText(tr("A &file…"));
        m_browse->setToolTip(tr("Made by lathe-cli head-start make from tuned projects"));
        showChoice();
    });
}

void HeadStartMenu::setChoice(const QString& choice)
{
    m_choice = choice;
    showChoice();
}

void HeadStartMenu::choose(const QString& choice)
{
    setChoice(choice);
    emit chosen(choice);
}

void HeadStartMenu::setTarget(const QString& target)
{
    m_target = target;
    showChoice();
}

void HeadStartMenu::showChoice()
{
    const bool file = !m_choice.isEmpty() && m_choice != kNone;
    const bool installed = !session::installedHeadStart(m_target.toStdString()).empty();
    m_installed->setText(installed ? tr("The &installed one") : tr("The &installed one (none for this target)"));
    m_file->setVisible(file);
    m_file->setText(QFileInfo(m_choice).fileName().replace(QLatin1Char('&'), QStringLiteral("&&")));
    m_file->setToolTip(m_choice);
    (file ? m_file : m_choice == kNone ? m_none : m_installed)->setChecked(true);
}

} // namespace lathe::ui
