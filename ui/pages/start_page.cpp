#include "ui/pages/start_page.h"

#include "core/session/session.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/step_curve.h"

#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>

#include <cmath>
#include <utility>

namespace lathe::ui {

namespace {

QLabel* heading(QWidget* parent, double factor)
{
    auto* label = new QLabel(parent);
    QFont large = label->font();
    large.setPointSizeF(large.pointSizeF() * factor);
    large.setBold(true);
    label->setFont(large);
    return label;
}

} // namespace

StartPage::StartPage(QWidget* parent) : QScrollArea(parent)
{
    setObjectName(QStringLiteral("startPage"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto* page = new QWidget(this);
    auto* title = heading(page, 2.2);
    title->setText(QStringLiteral("Lathe"));
    auto* subtitle = new QLabel(page);
    subtitle->setWordWrap(true);

    m_card = new QFrame(page);
    m_card->setObjectName(QStringLiteral("resumeCard"));
    m_card->setFrameShape(QFrame::StyledPanel);
    m_card->setAutoFillBackground(true);
    m_card->setBackgroundRole(QPalette::Base);
    m_cardTitle = heading(m_card, 1.15);
    m_cardText = new QLabel(m_card);
    m_cardText->setObjectName(QStringLiteral("resumeText"));
    m_cardText->setWordWrap(true);
    m_cardCurve = new StepCurve(m_card);
    m_resume = new QPushButton(m_card);
    m_resume->setObjectName(QStringLiteral("startResume"));
    auto* cardLayout = new QGridLayout(m_card);
    cardLayout->addWidget(m_cardTitle, 0, 0);
    cardLayout->addWidget(m_cardText, 1, 0);
    cardLayout->addWidget(m_cardCurve, 0, 1, 2, 1);
    cardLayout->addWidget(m_resume, 0, 2, 2, 1, Qt::AlignVCenter);
    cardLayout->setColumnStretch(0, 1);

    auto* model = new QPushButton(page);
    model->setObjectName(QStringLiteral("startOpenModel"));
    auto* project = new QPushButton(page);
    project->setObjectName(QStringLiteral("startOpenProject"));
    connect(model, &QPushButton::clicked, this, &StartPage::openModelRequested);
    connect(project, &QPushButton::clicked, this, &StartPage::openProjectRequested);
    auto* replay = new QPushButton(page);
    replay->setObjectName(QStringLiteral("startOpenReplay"));
    connect(replay, &QPushButton::clicked, this, &StartPage::openReplayRequested);
    auto* log = new QPushButton(page);
    log->setObjectName(QStringLiteral("startImportLog"));
    connect(log, &QPushButton::clicked, this, &StartPage::importLogRequested);

    m_recent = new QListWidget(page);
    m_recent->setObjectName(QStringLiteral("startRecent"));
    auto* zoo = new QListWidget(page);
    zoo->setObjectName(QStringLiteral("startZoo"));
    for (const session::ZooView& network : session::listZoo()) {
        auto* item = new QListWidgetItem(QString::fromStdString(network.name), zoo);
        item->setToolTip(QString::fromStdString(network.description));
        item->setData(Qt::UserRole, QStringLiteral("zoo:") + QString::fromStdString(network.name));
    }
    for (QListWidget* list : {zoo, m_recent}) {
        list->setMinimumHeight(110);
        list->setAlternatingRowColors(true);
        connect(list, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) { emit sourceChosen(item->data(Qt::UserRole).toString()); });
    }
    const auto forget = [this] {
        if (const QListWidgetItem* item = m_recent->currentItem())
            emit forgetChosen(item->data(Qt::UserRole).toString());
    };
    auto* remove = new QShortcut(QKeySequence::Delete, m_recent, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, forget);
    m_recent->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_recent, &QWidget::customContextMenuRequested, this, [this, forget](QPoint at) {
        if (m_recent->itemAt(at) == nullptr)
            return;
        QMenu menu(this);
        menu.addAction(tr("Re&play its latest run"), this, [this] {
            if (const QListWidgetItem* item = m_recent->currentItem())
                emit replayChosen(item->data(Qt::UserRole).toString());
        });
        menu.addAction(tr("&Remove from the list"), this, forget);
        menu.exec(m_recent->viewport()->mapToGlobal(at));
    });
    connect(m_resume, &QPushButton::clicked, this, [this] {
        if (!m_projects.isEmpty())
            emit resumeChosen(m_projects.first().source, m_projects.first().target, m_canGoOn);
    });

    auto* recentLabel = new QLabel(page);
    recentLabel->setBuddy(m_recent);
    auto* zooLabel = new QLabel(page);
    zooLabel->setBuddy(zoo);
    auto* hint = new QLabel(page);
    hint->setWordWrap(true);
    hint->setForegroundRole(QPalette::PlaceholderText);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(model);
    buttons->addWidget(project);
    buttons->addWidget(replay);
    buttons->addWidget(log);
    buttons->addStretch();
    auto* grid = new QGridLayout;
    grid->addWidget(recentLabel, 0, 0);
    grid->addWidget(zooLabel, 0, 1);
    grid->addWidget(m_recent, 1, 0);
    grid->addWidget(zoo, 1, 1);
    grid->setColumnStretch(0, 3);
    grid->setColumnStretch(1, 2);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(24, 16, 24, 12);
    layout->setSpacing(10);
    layout->addWidget(title);
    layout->addWidget(subtitle);
    layout->addWidget(m_card);
    layout->addLayout(buttons);
    layout->addLayout(grid, 1);
    layout->addWidget(hint);
    setWidget(page);
    QWidget* before = m_resume;
    for (QWidget* next : std::initializer_list<QWidget*>{model, project, replay, log, m_recent, zoo})
        setTabOrder(std::exchange(before, next), next);
    setFocusProxy(zoo);
    m_card->hide();

    retranslated(this, [this, subtitle, model, project, replay, log, zoo, recentLabel, zooLabel, hint] {
        setAccessibleName(tr("Start page"));
        subtitle->setText(tr("Open a network, tune it for the device it will run on, export a library that is as fast as was measured."));
        model->setText(tr("Open an ONNX &model…"));
        project->setText(tr("Open a &project…"));
        replay->setText(tr("Rep&lay a run…"));
        replay->setToolTip(tr("Plays a stored run of a project through the same views; nothing is measured or changed"));
        log->setText(tr("Import a &tuning log…"));
        log->setToolTip(tr("Takes the records of a log into the project of its network: Lathe's own exports, and logs of the auto-scheduler"));
        recentLabel->setText(tr("Re&cent (Enter or double-click opens)"));
        zooLabel->setText(tr("&Networks that come with Lathe"));
        m_recent->setAccessibleName(tr("Recent models and projects"));
        zoo->setAccessibleName(tr("Networks of the zoo"));
        hint->setText(tr("ONNX models (opset 7 and newer), projects (.lathe) and tuning logs (.json, .jsonl, .log) can be opened, and dropped anywhere in this window. F1 opens the manual, Ctrl+Shift+P finds every command."));
        m_cardCurve->setAccessibleName(tr("Estimated latency of the last run"));
        fill();
    });
}

void StartPage::setRecent(const QVector<RecentProject>& projects)
{
    m_projects = projects;
    fill();
}

void StartPage::fill()
{
    m_recent->clear();
    for (const RecentProject& project : m_projects) {
        QStringList parts{project.name()};
        if (std::isfinite(project.estimatedMs))
            parts << msText(project.estimatedMs);
        if (project.trials > 0)
            parts << tr("%L1 trials").arg(project.trials);
        if (!project.exists())
            parts << tr("the file is gone");
        auto* item = new QListWidgetItem(parts.join(QStringLiteral("  ·  ")), m_recent);
        item->setToolTip(project.source);
        item->setData(Qt::UserRole, project.source);
    }
    if (m_projects.isEmpty()) {
        auto* nothing = new QListWidgetItem(tr("Nothing was opened yet"), m_recent);
        nothing->setFlags(Qt::NoItemFlags);
    }
    m_card->setVisible(!m_projects.isEmpty() && m_projects.first().trials > 0);
    if (m_projects.isEmpty())
        return;
    const RecentProject& last = m_projects.first();
    m_cardTitle->setText(last.name());
    QStringList lines;
    QStringList latency;
    if (std::isfinite(last.estimatedMs))
        latency << tr("estimated %1").arg(msText(last.estimatedMs));
    if (std::isfinite(last.measuredMs))
        latency << tr("measured %1").arg(msText(last.measuredMs));
    if (std::isfinite(last.untunedMs))
        latency << tr("untuned %1").arg(msText(last.untunedMs));
    if (!latency.isEmpty())
        lines << latency.join(QStringLiteral("  ·  "));
    const bool cutOff = last.state == QStringLiteral("running") || last.state == QStringLiteral("starting") || last.state == QStringLiteral("stopping");
    const QString state = last.state == QStringLiteral("finished") ? tr("finished")
        : last.state == QStringLiteral("stopped")                  ? tr("stopped, can go on")
        : last.state.startsWith(QStringLiteral("paus"))            ? tr("was paused, can go on")
        : last.state == QStringLiteral("failed")                   ? tr("failed")
        : cutOff                                                   ? tr("was cut off, can go on where it was")
                                                                   : QString();
    QStringList facts{tr("%L1 trials").arg(last.trials)};
    if (last.runSeconds > 0)
        facts << tr("%1 of tuning").arg(minutesText(last.runSeconds));
    if (!state.isEmpty())
        facts << state;
    facts << QLocale(Language::instance().current()).toString(last.when, QLocale::ShortFormat);
    lines << facts.join(QStringLiteral("  ·  "));
    m_cardText->setText(lines.join(QLatin1Char('\n')));
    m_cardCurve->setPoints(last.curve);
    m_cardCurve->setAccessibleDescription(lines.join(QStringLiteral("; ")));
    m_canGoOn = cutOff || last.state == QStringLiteral("stopped") || last.state.startsWith(QStringLiteral("paus"));
    m_resume->setText(m_canGoOn ? tr("Open and res&ume") : tr("&Open"));
    m_resume->setAccessibleDescription(tr("Opens %1").arg(last.name()));
    m_resume->setEnabled(last.exists());
}

} // namespace lathe::ui
