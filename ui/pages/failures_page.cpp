#include "ui/pages/failures_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/command_line.h"
#include "ui/models/core_text.h"
#include "ui/models/edits.h"
#include "ui/models/error_advice.h"
#include "ui/models/failure_cure.h"
#include "ui/models/failure_model.h"
#include "ui/models/language.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/remeasure_bar.h"
#include "ui/views/empty_state.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"
#include "ui/views/write_access.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kFailuresPageRefreshMs = 2000;
constexpr std::size_t kMaxRetried = 1000; ///< trials that are tried again at once

} // namespace

FailuresPage::FailuresPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
    , m_filter(TrialFilter::of(workspace))
{
    setObjectName(QStringLiteral("failuresPage"));
    makeTable();
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->addWidget(m_table);
    splitter->addWidget(makeSide());
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->addWidget(splitter, 1);
    layout->addWidget(new RemeasureBar(m_workspace, RemeasureBar::Tells::Measured, this));

    m_refresh.setSingleShot(true);
    connect(&m_refresh, &QTimer::timeout, this, &FailuresPage::readAgain);
    connectActions();
    connectWorkspace();
    retranslated(this, [this] { retranslate(); });
    if (m_workspace.session() != nullptr)
        onOpened();
}

void FailuresPage::makeTable()
{
    m_model = new FailureModel(this);
    m_table = new TableView("failureTable", this);
    m_table->setModel(m_model);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    const int widths[] = {60, 130, 80, 330, 240};
    for (int column = 0; column < FailureModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    m_empty = new EmptyState(m_table, [this]() -> EmptyState::Text {
        return m_workspace.session() == nullptr
                   ? EmptyState::Text{tr("Open a network to see its failures."), QStringLiteral("actionOpen")}
                   : EmptyState::Text{tr("No trial has failed."), {}};
    });
    m_command = new QAction(m_table);
    m_command->setObjectName(QStringLiteral("failureCommand"));
    m_table->addMenuAction(m_command);
}

/// The chosen cause: one example, what helps, what can be done.
QWidget* FailuresPage::makeSide()
{
    auto* side = new QWidget(this);
    const auto label = [side](const char* name) {
        auto* made = new QLabel(side);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        return made;
    };
    m_summary = label("failureSummary");
    m_advice = label("failureAdvice");
    m_text = new QPlainTextEdit(side);
    m_text->setObjectName(QStringLiteral("failureText"));
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    const auto button = [side](const char* name) {
        auto* made = new QPushButton(side);
        made->setObjectName(QLatin1String(name));
        return made;
    };
    m_show = button("failureShow");
    m_example = button("failureExample");
    m_cure = button("failureCure");
    m_retry = button("failureRetry");
    auto* looks = new QHBoxLayout;
    looks->addWidget(m_show);
    looks->addWidget(m_example);
    looks->addStretch();
    auto* acts = new QHBoxLayout;
    acts->addWidget(m_cure);
    acts->addWidget(m_retry);
    acts->addStretch();
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(spacing::kSmall, spacing::kNone, spacing::kNone, spacing::kNone);
    column->addWidget(m_summary);
    column->addWidget(m_text, 1);
    column->addWidget(m_advice);
    column->addLayout(acts);
    column->addLayout(looks);
    return side;
}

void FailuresPage::connectActions()
{
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FailuresPage::showCurrent);
    connect(m_table, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        m_table->setCurrentIndex(row); // which the buttons are about
        menu->addSeparator();
        for (QPushButton* button : {m_show, m_example, m_cure, m_retry})
            if (!button->isHidden())
                menu->addAction(button->text(), button, &QPushButton::click)->setEnabled(button->isEnabled());
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &FailuresPage::showCurrent);
    connect(&m_workspace, &Workspace::figuresChanged, this,
            [this] { emit countChanged(static_cast<int>(m_workspace.figures().failed)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid())
                    restrictTo(false);
            });
    connect(m_table, &QTableView::activated, this, [this] { restrictTo(true); });
    connect(m_show, &QPushButton::clicked, this, [this] { restrictTo(true); });
    connect(m_example, &QPushButton::clicked, this, &FailuresPage::showExample);
    connect(m_cure, &QPushButton::clicked, this, &FailuresPage::cure);
    connect(m_retry, &QPushButton::clicked, this, &FailuresPage::retry);
    connect(m_command, &QAction::triggered, this, &FailuresPage::copyCommand);
}

void FailuresPage::connectWorkspace()
{
    connect(&m_workspace.edits(), &Edits::runTimeoutChanged, this, &FailuresPage::showCurrent);
    const TrialJobs& jobs = m_workspace.trialJobs();
    connect(&jobs, &TrialJobs::started, this, &FailuresPage::updateButtons);
    connect(&jobs, &TrialJobs::failed, this, &FailuresPage::updateButtons);
    connect(&jobs, &TrialJobs::imported, this, &FailuresPage::readAgain);
    connect(&jobs, &TrialJobs::importFailed, this, &FailuresPage::readAgain);
    connect(&jobs, &TrialJobs::ended, this, [this] {
        updateButtons();
        readAgain();
    });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &FailuresPage::onOpened);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, [this] {
        m_open = false;
        m_reader.setHistory(nullptr);
        m_model->setFailures({});
    });
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this, &FailuresPage::onEvents);
    connect(&m_workspace, &Workspace::writerChanged, this, &FailuresPage::updateButtons);
}

void FailuresPage::retranslate()
{
    m_table->setAccessibleName(tr("Failures"));
    m_text->setAccessibleName(tr("Message of the latest one"));
    m_show->setText(tr("Show these &trials"));
    m_show->setToolTip(tr("Show them in Records"));
    m_example->setText(tr("Show its &program"));
    m_example->setToolTip(tr("Schedule, loops and code of the latest of these trials"));
    m_command->setText(tr("Copy command line: try again"));
    m_retry->setToolTip(tr("Build and measure them again; the results are new trials"));
    showCurrent();
}

FailuresPage::~FailuresPage()
{
    m_model->disconnect(this);
    m_table->selectionModel()->disconnect(this);
}

void FailuresPage::onOpened()
{
    QStringList names;
    for (int i = 0; i < m_workspace.tasks().rowCount(); ++i)
        names << QString::fromStdString(m_workspace.tasks().task(i).name);
    m_model->setTaskNames(names);
    m_model->setFailures({});
    m_open = m_stale = true;
    m_empty->refresh();
    if (isVisible())
        read();
}

void FailuresPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    read();
}

void FailuresPage::onEvents(const std::vector<session::Event>& events)
{
    const bool failed = std::any_of(events.begin(), events.end(), [](const session::Event& e) {
        const auto* trial = std::get_if<session::TrialEvent>(&e.what);
        return (trial != nullptr && trial->trial.code != "Ok") || std::holds_alternative<session::RewindEvent>(e.what);
    });
    if (failed && !m_refresh.isActive())
        m_refresh.start(std::max(kFailuresPageRefreshMs,
                                 static_cast<int>(m_seconds * 100 * 1000))); // a hundredth of the time at most
}

void FailuresPage::readAgain()
{
    m_stale = true;
    if (isVisible())
        read();
}

void FailuresPage::read()
{
    session::TuningSession* session = m_workspace.session();
    if (!m_open || session == nullptr || !std::exchange(m_stale, false))
        return;
    if (!m_reader.isOpen()) {
        auto history = session->history();
        if (!history)
            return;
        m_reader.setHistory(*std::move(history));
    }
    QElapsedTimer clock;
    clock.start();
    m_reader.ask([](session::History& history, std::stop_token stop) { return history.failures(stop); },
                 [this, clock](Result<std::vector<session::FailureView>> failures) {
                     m_seconds = static_cast<double>(clock.elapsed()) / 1000;
                     if (!failures) {
                         m_workspace.addIssue(tr("failures"), failures.error());
                         return;
                     }
                     // The chosen cause stays chosen where its row moves.
                     const QModelIndex current = m_table->currentIndex();
                     const std::string chosen = current.isValid() ? m_model->failure(current.row()).cause
                                                                  : std::string();
                     m_model->setFailures(*std::move(failures));
                     for (int row = 0; row < m_model->rowCount() && !chosen.empty(); ++row)
                         if (m_model->failure(row).cause == chosen && !m_table->currentIndex().isValid())
                             m_table->setCurrentIndex(m_model->index(row, 0));
                     showCurrent();
                 });
}

void FailuresPage::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid()) {
        const QLocale locale;
        const auto total = m_model->total();
        const int causes = m_model->rowCount();
        if (m_workspace.session() == nullptr)
            m_summary->setText(tr("No network is open"));
        else if (causes == 0)
            m_summary->setText(tr("No trial has failed."));
        else
            m_summary->setText(
                (total == 1 ? tr("One trial failed.")
                            : tr("%1 trials failed.").arg(locale.toString(static_cast<qlonglong>(total))))
                + QLatin1Char(' ')
                + (causes == 1
                       ? tr("Select its cause to see the message and what helps.")
                       : tr("%1 causes: select one to see its message and what helps.").arg(locale.toString(causes))));
        m_text->clear();
        m_advice->clear();
        updateButtons();
        return;
    }
    const session::FailureView& failure = m_model->failure(current.row());
    const ErrorAdvice advice = errorAdvice(QString::fromStdString(failure.code));
    m_summary->setText(
        QStringLiteral("<b>%1</b> – %2")
            .arg(advice.title.toHtmlEscaped(), unbroken(m_model->tasksText(failure, 3)).toHtmlEscaped()));
    if (const QString text = coreText(failure.text, failure.about); m_text->toPlainText() != text)
        m_text->setPlainText(text);
    updateButtons();
}

void FailuresPage::updateButtons()
{
    const QModelIndex current = m_table->currentIndex();
    for (QPushButton* button : {m_show, m_example})
        button->setEnabled(current.isValid());
    m_retry->setVisible(current.isValid());
    m_cure->hide();
    if (!current.isValid() || m_workspace.session() == nullptr)
        return;
    const session::FailureView& failure = m_model->failure(current.row());
    m_retry->setText(
        failure.count == 1
            ? tr("Try it &again")
            : tr("Try all %1 &again").arg(QLocale().toString(std::min<qlonglong>(failure.count, kMaxRetried))));
    const QString readOnly = m_workspace.whyReadOnly();
    enableToWrite(*m_retry, !m_workspace.trialJobs().isMeasuring(), readOnly);
    const FailureCure cure = failureCure(failure, m_workspace.edits().runTimeout());
    const ErrorAdvice advice = errorAdvice(QString::fromStdString(failure.code));
    m_advice->setText(cure.sentence.isEmpty() ? advice.advice : cure.sentence);
    switch (cure.act) {
    case FailureCure::Act::Timeout:
        m_cure->setText(tr("Raise the time &limit to %1 s").arg(cure.seconds));
        m_cure->setToolTip(tr("From the next round of this run on, and for later runs"));
        m_cure->setVisible(cure.seconds > m_workspace.edits().runTimeout());
        break;
    case FailureCure::Act::Package:
        m_cure->setText(tr("Copy the &install command"));
        m_cure->setToolTip(QStringLiteral("sudo apt install ") + cure.package);
        m_cure->show();
        break;
    case FailureCure::Act::Limit:
        m_cure->setText(tr("&Open the limit"));
        m_cure->setToolTip(tr("Show the device's limits"));
        m_cure->setVisible(window()->findChild<QAction*>(QStringLiteral("page.devices")) != nullptr);
        break;
    case FailureCure::Act::None: break;
    }
    enableToWrite(*m_cure, true, cure.act == FailureCure::Act::Timeout ? readOnly : QString());
}

session::TrialQuery FailuresPage::currentQuery() const
{
    session::TrialQuery query;
    if (const QModelIndex current = m_table->currentIndex(); current.isValid()) {
        const session::FailureView& failure = m_model->failure(current.row());
        query.code = failure.code;
        query.stage = failure.stage;
        query.cause = failure.cause;
    }
    return query;
}

void FailuresPage::showExample()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid())
        return;
    const qint64 row = m_model->failure(current.row()).example;
    restrictTo(true);
    m_filter.requestRow(row);
}

void FailuresPage::restrictTo(bool show)
{
    if (m_table->currentIndex().isValid())
        m_filter.set(currentQuery(), show);
}

void FailuresPage::cure()
{
    const QModelIndex current = m_table->currentIndex();
    if (m_workspace.session() == nullptr || !current.isValid())
        return;
    const FailureCure cure = failureCure(m_model->failure(current.row()), m_workspace.edits().runTimeout());
    if (cure.act == FailureCure::Act::Timeout) {
        m_workspace.edits().setRunTimeout(cure.seconds);
    } else if (cure.act == FailureCure::Act::Package) {
        QApplication::clipboard()->setText(QStringLiteral("sudo apt install ") + cure.package);
        m_workspace.log(tr("Copied: %1").arg(QApplication::clipboard()->text()));
    } else if (auto* devices = window()->findChild<QAction*>(QStringLiteral("page.devices"));
               devices != nullptr && cure.act == FailureCure::Act::Limit) {
        devices->trigger();
    }
    showCurrent();
}

void FailuresPage::retry()
{
    session::TrialQuery query = currentQuery();
    if (query.code.empty())
        return;
    query.descending = true; // the latest first, where there are too many
    m_reader.ask(
        [query](session::History& history, std::stop_token stop) -> Result<std::vector<session::TrialRow>> {
            auto rows = history.find(query, stop);
            if (!rows)
                return std::move(rows).error();
            rows->resize(std::min(rows->size(), kMaxRetried));
            return history.rows(*rows);
        },
        [this](Result<std::vector<session::TrialRow>> rows) {
            if (!rows) {
                m_workspace.addIssue(tr("failures"), rows.error());
                return;
            }
            std::vector<std::string> trials;
            for (const session::TrialRow& row : *rows)
                trials.push_back(row.trial);
            m_workspace.trialJobs().remeasure(std::move(trials));
        });
}

void FailuresPage::copyCommand()
{
    if (m_workspace.session() == nullptr || !m_table->currentIndex().isValid())
        return;
    const QString command = retryCommand(m_workspace.session()->options(), currentQuery(), {});
    QApplication::clipboard()->setText(command);
    m_workspace.log(tr("Copied: %1").arg(command));
}

} // namespace lathe::ui
