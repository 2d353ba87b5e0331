#include "ui/pages/failures_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/error_advice.h"
#include "ui/models/failure_model.h"
#include "ui/models/language.h"
#include "ui/models/task_model.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/views/table_view.h"

#include <QElapsedTimer>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kRefreshMs = 2000;
constexpr double kTimeoutFactor = 3; ///< how much longer the cure lets a candidate run

} // namespace

FailuresPage::FailuresPage(Workspace& workspace, QWidget* parent) : QWidget(parent), m_workspace(workspace), m_filter(TrialFilter::of(workspace))
{
    setObjectName(QStringLiteral("failuresPage"));
    m_model = new FailureModel(this);
    m_table = new TableView("failureTable", this);
    m_table->setModel(m_model);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    const int widths[] = {60, 130, 80, 330, 240};
    for (int column = 0; column < FailureModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    auto* side = new QWidget(this);
    m_summary = new QLabel(side);
    m_summary->setObjectName(QStringLiteral("failureSummary"));
    m_summary->setWordWrap(true);
    m_advice = new QLabel(side);
    m_advice->setObjectName(QStringLiteral("failureAdvice"));
    m_advice->setWordWrap(true);
    m_text = new QPlainTextEdit(side);
    m_text->setObjectName(QStringLiteral("failureText"));
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_show = new QPushButton(side);
    m_show->setObjectName(QStringLiteral("failureShow"));
    m_timeout = new QPushButton(side);
    m_timeout->setObjectName(QStringLiteral("failureTimeout"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_show);
    buttons->addWidget(m_timeout);
    buttons->addStretch();
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(4, 0, 0, 0);
    column->addWidget(m_summary);
    column->addWidget(m_text, 1);
    column->addWidget(m_advice);
    column->addLayout(buttons);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->addWidget(m_table);
    splitter->addWidget(side);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);

    m_refresh.setSingleShot(true);
    connect(&m_refresh, &QTimer::timeout, this, [this] {
        m_stale = true;
        if (isVisible())
            read();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FailuresPage::showCurrent);
    connect(m_model, &QAbstractItemModel::modelReset, this, &FailuresPage::showCurrent);
    const auto restrict = [this](bool show) {
        const QModelIndex current = m_table->currentIndex();
        if (!current.isValid())
            return;
        const session::FailureView& failure = m_model->failure(current.row());
        session::TrialQuery query;
        query.code = failure.code;
        query.stage = failure.stage;
        query.cause = failure.cause;
        m_filter.set(query, show);
    };
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [restrict](const QModelIndex& current) {
        if (current.isValid())
            restrict(false);
    });
    connect(m_table, &QTableView::activated, this, [restrict] { restrict(true); });
    connect(m_show, &QPushButton::clicked, this, [restrict] { restrict(true); });
    connect(m_timeout, &QPushButton::clicked, this, [this] {
        session::TuningSession* session = m_workspace.session();
        if (session == nullptr)
            return;
        const double seconds = session->runTimeout() * kTimeoutFactor;
        if (const auto set = session->setRunTimeout(seconds); !set)
            m_workspace.addIssue(QString::fromUtf8(toString(set.error().code).data()), tr("failures"), QString::fromStdString(set.error().message));
        else
            m_workspace.log(tr("A candidate may run for %1 s from the next round on").arg(seconds));
        updateTimeoutButton();
    });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &FailuresPage::onOpened);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, [this] {
        m_open = false;
        m_reader.setHistory(nullptr);
        m_model->setFailures({});
    });
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this, &FailuresPage::onEvents);
    retranslated(this, [this] {
        m_table->setAccessibleName(tr("Failures"));
        m_text->setAccessibleName(tr("Text of the latest one"));
        m_show->setText(tr("Show these &trials"));
        m_show->setToolTip(tr("List them among the records"));
        updateTimeoutButton();
        showCurrent();
    });
    if (m_workspace.session() != nullptr)
        onOpened();
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
        return trial != nullptr && trial->trial.code != "Ok";
    });
    if (failed && !m_refresh.isActive())
        m_refresh.start(std::max(kRefreshMs, static_cast<int>(m_seconds * 100 * 1000))); // a hundredth of the time at most
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
    m_reader.ask([](session::History& history, std::stop_token stop) { return history.failures(stop); }, [this, clock](Result<std::vector<session::FailureView>> failures) {
        m_seconds = static_cast<double>(clock.elapsed()) / 1000;
        if (!failures) {
            m_workspace.addIssue(QStringLiteral("StoreFailed"), tr("failures"), QString::fromStdString(failures.error().message));
            return;
        }
        // The chosen cause stays chosen where its row moves.
        const QModelIndex current = m_table->currentIndex();
        const std::string chosen = current.isValid() ? m_model->failure(current.row()).cause : std::string();
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
    m_show->setEnabled(current.isValid());
    if (!current.isValid()) {
        const QLocale locale;
        m_summary->setText(m_workspace.session() == nullptr ? tr("No network is open")
                               : m_model->rowCount() == 0   ? tr("No trial has failed.")
                                                            : tr("%1 failed trials, %2 causes. Select one to see its text and what helps.").arg(locale.toString(m_model->total()), locale.toString(m_model->rowCount())));
        m_text->clear();
        m_advice->clear();
        m_timeout->hide();
        return;
    }
    const session::FailureView& failure = m_model->failure(current.row());
    const ErrorAdvice advice = errorAdvice(QString::fromStdString(failure.code));
    m_summary->setText(QStringLiteral("<b>%1</b> – %2").arg(advice.title.toHtmlEscaped(), m_model->tasksText(failure, 3).toHtmlEscaped()));
    if (m_text->toPlainText() != QString::fromStdString(failure.text))
        m_text->setPlainText(QString::fromStdString(failure.text));
    m_advice->setText(advice.advice);
    m_timeout->setVisible(failure.code == "RunTimeout");
    updateTimeoutButton();
}

void FailuresPage::updateTimeoutButton()
{
    const session::TuningSession* session = m_workspace.session();
    const double seconds = (session == nullptr ? session::TuneOptions().timeoutSeconds : session->runTimeout()) * kTimeoutFactor;
    m_timeout->setText(tr("&Let candidates run for %1 s").arg(seconds));
    m_timeout->setToolTip(tr("For this run from its next round on, and for those to come"));
}

} // namespace lathe::ui
