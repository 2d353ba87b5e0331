#include "ui/pages/start_page.h"

#include "core/session/back_ends.h"
#include "core/session/session.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/spacing.h"
#include "ui/views/step_curve.h"
#include "ui/views/two_line_delegate.h"

#include <QDir>
#include <QFileInfo>
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

/// As people write it: from their home.
QString folderText(const QString& folder)
{
    const QString home = QDir::homePath();
    const bool inside = folder == home || folder.startsWith(home + QLatin1Char('/'));
    return QDir::toNativeSeparators(inside ? QLatin1Char('~') + folder.mid(home.size()) : folder);
}

QString whenText(const QDateTime& when)
{
    return QLocale(Language::instance().current()).toString(when, QLocale::ShortFormat);
}

/// The best that is known: what was measured, else what was estimated.
QString latencyText(const RecentProject& project)
{
    const double now = std::isfinite(project.measuredMs) ? project.measuredMs : project.estimatedMs;
    if (!std::isfinite(now))
        return {};
    return std::isfinite(project.untunedMs)
               ? StartPage::tr("%1 (untuned %2)").arg(msText(now), msText(project.untunedMs))
               : msText(now);
}

void setDetail(QListWidgetItem* item, const QStringList& parts)
{
    const QString detail = parts.join(QStringLiteral("  ·  "));
    item->setData(TwoLineDelegate::DetailRole, detail);
    item->setData(Qt::AccessibleTextRole,
                  detail.isEmpty() ? item->text() : item->text() + QStringLiteral(": ") + detail);
}

} // namespace

StartPage::StartPage(QWidget* parent)
    : QScrollArea(parent)
{
    setObjectName(QStringLiteral("startPage"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto* page = new QWidget(this);
    auto* title = heading(page, 2.2);
    title->setText(QStringLiteral("Lathe"));
    m_subtitle = new QLabel(page);
    m_subtitle->setWordWrap(true);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(spacing::kPage, spacing::kLarge, spacing::kPage, spacing::kMedium);
    layout->setSpacing(spacing::kMedium);
    layout->addWidget(title);
    layout->addWidget(m_subtitle);
    layout->addWidget(makeCard(page));
    layout->addLayout(makeButtons(page));
    layout->addLayout(makeLists(page), 1);
    m_hint = new QLabel(page);
    m_hint->setWordWrap(true);
    m_hint->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(m_hint);
    setWidget(page);
    QWidget* before = m_resume;
    for (QWidget* next : std::initializer_list<QWidget*>{m_model, m_project, m_replay, m_log, m_recent, m_zoo})
        setTabOrder(std::exchange(before, next), next);
    setFocusProxy(m_zoo);
    m_card->hide();
    retranslated(this, [this] { retranslate(); });
}

/// What was worked on last.
QFrame* StartPage::makeCard(QWidget* page)
{
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
    connect(m_resume, &QPushButton::clicked, this, [this] {
        if (!m_projects.isEmpty())
            emit resumeChosen(m_projects.first().source, m_projects.first().target, m_canGoOn);
    });
    auto* layout = new QGridLayout(m_card);
    layout->addWidget(m_cardTitle, 0, 0);
    layout->addWidget(m_cardText, 1, 0);
    layout->addWidget(m_cardCurve, 0, 1, 2, 1);
    layout->addWidget(m_resume, 0, 2, 2, 1, Qt::AlignVCenter);
    layout->setColumnStretch(0, 1);
    return m_card;
}

QHBoxLayout* StartPage::makeButtons(QWidget* page)
{
    auto* buttons = new QHBoxLayout;
    const auto button = [this, page, buttons](const char* name, void (StartPage::*requested)()) {
        auto* made = new QPushButton(page);
        made->setObjectName(QLatin1String(name));
        connect(made, &QPushButton::clicked, this, requested);
        buttons->addWidget(made);
        return made;
    };
    m_model = button("startOpenModel", &StartPage::openModelRequested);
    m_project = button("startOpenProject", &StartPage::openProjectRequested);
    m_replay = button("startOpenReplay", &StartPage::openReplayRequested);
    m_log = button("startImportLog", &StartPage::importLogRequested);
    buttons->addStretch();
    return buttons;
}

QGridLayout* StartPage::makeLists(QWidget* page)
{
    m_recent = new QListWidget(page);
    m_recent->setObjectName(QStringLiteral("startRecent"));
    m_zoo = new QListWidget(page);
    m_zoo->setObjectName(QStringLiteral("startZoo"));
    for (const session::ZooView& network : session::listZoo()) {
        auto* item = new QListWidgetItem(QString::fromStdString(network.name), m_zoo);
        m_networks << network;
        item->setToolTip(QString::fromStdString(network.description));
        item->setData(Qt::UserRole, QStringLiteral("zoo:") + QString::fromStdString(network.name));
    }
    for (QListWidget* list : {m_zoo, m_recent}) {
        list->setMinimumHeight(110);
        list->setAlternatingRowColors(true);
        list->setItemDelegate(new TwoLineDelegate(list));
        list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        connect(list, &QListWidget::itemActivated, this,
                [this](const QListWidgetItem* item) { emit sourceChosen(item->data(Qt::UserRole).toString()); });
    }
    makeRecentMenu();
    m_recentLabel = new QLabel(page);
    m_recentLabel->setBuddy(m_recent);
    m_zooLabel = new QLabel(page);
    m_zooLabel->setBuddy(m_zoo);
    auto* grid = new QGridLayout;
    grid->addWidget(m_recentLabel, 0, 0);
    grid->addWidget(m_zooLabel, 0, 1);
    grid->addWidget(m_recent, 1, 0);
    grid->addWidget(m_zoo, 1, 1);
    grid->setColumnStretch(0, 3);
    grid->setColumnStretch(1, 2);
    return grid;
}

void StartPage::makeRecentMenu()
{
    auto* remove = new QShortcut(QKeySequence::Delete, m_recent, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, &StartPage::forget);
    m_recent->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_recent, &QWidget::customContextMenuRequested, this, [this](QPoint at) {
        if (m_recent->itemAt(at) == nullptr)
            return;
        QMenu menu(this);
        menu.addAction(tr("Re&play its latest run"), this, [this] {
            if (const QListWidgetItem* item = m_recent->currentItem())
                emit replayChosen(item->data(Qt::UserRole).toString());
        });
        menu.addAction(tr("&Remove from the list"), this, &StartPage::forget);
        menu.exec(m_recent->viewport()->mapToGlobal(at));
    });
}

void StartPage::forget()
{
    if (const QListWidgetItem* item = m_recent->currentItem())
        emit forgetChosen(item->data(Qt::UserRole).toString());
}

void StartPage::retranslate()
{
    setAccessibleName(tr("Start page"));
    m_subtitle->setText(tr("Open a network, tune it for your device, export a library that is as fast as measured."));
    m_model->setText(tr("Open an ONNX &model…"));
    m_project->setText(tr("Open a &project…"));
    m_replay->setText(tr("Rep&lay a run…"));
    m_replay->setToolTip(tr("Plays a stored run in the same views; nothing is measured or changed"));
    m_log->setText(tr("Import a &tuning log…"));
    m_log->setToolTip(tr("Imports the records of a log into the project of its network: Lathe's own exports and logs "
                         "of the auto-scheduler"));
    m_recentLabel->setText(tr("Re&cent (Enter or double-click opens)"));
    m_zooLabel->setText(tr("&Networks that come with Lathe"));
    m_recent->setAccessibleName(tr("Recent models and projects"));
    m_zoo->setAccessibleName(tr("Networks of the zoo"));
    m_hint->setText(tr("Drop ONNX models, projects (.lathe) or tuning logs (.json, .jsonl, .log) anywhere in this "
                       "window. F1 opens the manual, Ctrl+Shift+P finds every command."));
    m_cardCurve->setAccessibleName(tr("Estimated latency of the last run"));
    fill();
}

void StartPage::setRecent(const QVector<RecentProject>& projects)
{
    m_projects = projects;
    fill();
}

/// What each network costs, and how far it was tuned.
void StartPage::fillZoo()
{
    for (int row = 0; row < m_zoo->count(); ++row) {
        QListWidgetItem* item = m_zoo->item(row);
        const session::ZooView& network = m_networks[row];
        QStringList parts;
        if (network.gflop > 0)
            parts << QString::fromStdString(network.input).replace(QLatin1Char('x'), QStringLiteral("×"))
                  << (network.gflop < 0.1 ? QStringLiteral("%L1 MFLOP").arg(network.gflop * 1e3, 0, 'f', 2)
                                          : QStringLiteral("%L1 GFLOP").arg(network.gflop, 0, 'f', 2))
                  << tr("%L1 M parameters").arg(network.weights / 1e6, 0, 'f', 1);
        const QString source = item->data(Qt::UserRole).toString();
        for (const RecentProject& project : std::as_const(m_projects))
            if (project.source == source && project.trials > 0)
                parts << tr("tuned for %1: %2").arg(targetTitle(project.target.toStdString()), latencyText(project));
        setDetail(item, parts);
    }
}

void StartPage::fill()
{
    m_recent->clear();
    for (const RecentProject& project : m_projects) {
        auto* item = new QListWidgetItem(project.name(), m_recent);
        QStringList parts;
        if (!project.exists())
            parts << tr("the file is gone");
        parts << targetTitle(project.target.toStdString());
        if (!project.sizes.isEmpty())
            parts << project.sizes;
        if (const QString latency = latencyText(project); !latency.isEmpty())
            parts << latency;
        if (project.trials > 0)
            parts << tr("%Ln trials", nullptr, static_cast<int>(project.trials));
        if (project.when.isValid())
            parts << whenText(project.when);
        if (project.name() != project.source)
            parts << folderText(QFileInfo(project.source).absolutePath());
        setDetail(item, parts);
        item->setToolTip(project.source);
        item->setData(Qt::UserRole, project.source);
    }
    fillZoo();
    if (m_projects.isEmpty()) {
        auto* nothing = new QListWidgetItem(tr("Nothing opened yet"), m_recent);
        nothing->setFlags(Qt::NoItemFlags);
    }
    m_card->setVisible(!m_projects.isEmpty() && m_projects.first().trials > 0);
    if (m_projects.isEmpty())
        return;
    const RecentProject& last = m_projects.first();
    m_cardTitle->setText(last.sizes.isEmpty() ? last.name() : QStringLiteral("%1 (%2)").arg(last.name(), last.sizes));
    QStringList lines;
    QStringList latency;
    if (std::isfinite(last.estimatedMs))
        latency << tr("estimated %1").arg(msText(last.estimatedMs));
    if (std::isfinite(last.measuredMs))
        latency << tr("measured %1").arg(msText(last.measuredMs));
    if (std::isfinite(last.untunedMs))
        latency << tr("untuned %1").arg(msText(last.untunedMs));
    if (!latency.isEmpty())
        lines << (latency << tr("for %1").arg(targetTitle(last.target.toStdString()))).join(QStringLiteral("  ·  "));
    const bool cutOff = last.state == QStringLiteral("running") || last.state == QStringLiteral("starting")
                        || last.state == QStringLiteral("stopping");
    const QString state = last.state == QStringLiteral("finished")        ? tr("finished")
                          : last.state == QStringLiteral("stopped")       ? tr("stopped, can be resumed")
                          : last.state.startsWith(QStringLiteral("paus")) ? tr("paused, can be resumed")
                          : last.state == QStringLiteral("failed")        ? tr("failed")
                          : cutOff                                        ? tr("interrupted, can be resumed")
                                                                          : QString();
    QStringList facts{tr("%Ln trials", nullptr, static_cast<int>(last.trials))};
    if (last.runSeconds > 0)
        facts << tr("%1 of tuning").arg(minutesText(last.runSeconds));
    if (!state.isEmpty())
        facts << state;
    facts << whenText(last.when);
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
