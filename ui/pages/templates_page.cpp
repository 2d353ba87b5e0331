#include "ui/pages/templates_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/knob_cost_model.h"
#include "ui/models/knob_model.h"
#include "ui/models/language.h"
#include "ui/models/rereading.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/elided_label.h"
#include "ui/views/empty_state.h"
#include "ui/views/parallel_view.h"
#include "ui/views/share_delegate.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::ui {

namespace {

constexpr int kOriginTarget = Qt::UserRole + 1; ///< of the origins: the target, whatever the language
constexpr int kIdDigits = 6; ///< of a trial, as the records show it

QString asText(const std::string& text)
{
    return QString::fromStdString(text);
}

} // namespace

TemplatesPage::TemplatesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("templatesPage"));
    m_reads = new Rereading(
        workspace, [this] { return read(); }, this);
    makeWidgets();
    connectViews();
    connectWorkspace();
    retranslated(this, [this] { retranslate(); });
    if (m_workspace.session() != nullptr)
        onOpened();
}

void TemplatesPage::makeWidgets()
{
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        made->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        return made;
    };
    const auto box = [this](const char* name) {
        auto* made = new QComboBox(this);
        made->setObjectName(QLatin1String(name));
        made->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        return made;
    };
    m_template = box("templatePicker");
    m_origin = box("templateOrigin");
    m_space = label("templateSpace");
    m_winner = label("templateWinner");
    m_best = label("templateBest");
    m_lines = new ParallelView(this);
    m_knobModel = new KnobModel(this);
    m_knobs = new TableView("knobTable", this);
    m_knobs->setModel(m_knobModel);
    m_knobs->setSelectionMode(QAbstractItemView::SingleSelection);
    const int widths[] = {90, 110, 62, 50, 56, 120};
    for (int column = 0; column < KnobModel::ColumnCount; ++column)
        m_knobs->setColumnWidth(column, widths[column]);
    m_knobs->restoreColumns();
    m_costModel = new KnobCostModel(this);
    m_costs = new TableView("knobCostTable", this);
    m_costs->setModel(m_costModel);
    m_costs->setItemDelegateForColumn(KnobCostModel::SpeedColumn, new ShareDelegate(m_costs));
    const int costWidths[] = {64, 70, 70, 50, 42, 46};
    for (int column = 0; column < KnobCostModel::ColumnCount; ++column)
        m_costs->setColumnWidth(column, costWidths[column]);
    // What the figures rest on is seen even where there is little room.
    m_costs->horizontalHeader()->moveSection(KnobCostModel::TrialsColumn, KnobCostModel::SpeedColumn);
    m_costs->restoreColumns();
    m_noCosts = new EmptyState(m_costs, [this] { return EmptyState::Text{emptyText(), {}}; });
    m_costTitle = new ElidedLabel(this);
    m_costTitle->setObjectName(QStringLiteral("knobCostTitle"));

    auto* pickers = new QHBoxLayout;
    pickers->addWidget(m_template);
    pickers->addWidget(m_origin);
    pickers->addStretch();
    auto* costs = new QWidget(this);
    auto* column = new QVBoxLayout(costs);
    column->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    column->setSpacing(spacing::kHair);
    column->addWidget(m_costTitle);
    column->addWidget(m_costs, 1);
    auto* tables = new QSplitter(Qt::Horizontal, this);
    tables->addWidget(m_knobs);
    tables->addWidget(costs);
    tables->setStretchFactor(0, 1);
    tables->setStretchFactor(1, 1);
    m_details = tables;
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_lines);
    splitter->addWidget(tables);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->setSpacing(spacing::kSmall);
    layout->addLayout(pickers);
    for (QLabel* text : {m_winner, m_space, m_best})
        layout->addWidget(text);
    layout->addWidget(splitter, 1);
    setFocusProxy(m_lines);
}

void TemplatesPage::connectViews()
{
    connect(m_template, &QComboBox::currentIndexChanged, this, [this] { fill(); });
    connect(m_template, &QComboBox::activated, this, [this] { m_isPicked = true; });
    connect(m_origin, &QComboBox::currentIndexChanged, this, [this] { fill(); });
    connect(m_knobs->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid() && current.row() != m_knob)
                    showKnob(current.row());
            });
    connect(m_lines, &ParallelView::axisPicked, this, [this](int axis) {
        m_knobs->setCurrentIndex(m_knobModel->index(axis, 0));
        showKnob(axis);
    });
    connect(m_lines, &ParallelView::picked, this, [this](qint64 row) {
        const session::TemplateTrials* trials = shownTrials();
        if (trials == nullptr)
            return;
        for (const session::TriedConfig& config : trials->configs)
            if (config.row == row)
                m_workspace.selection().selectRecord(asText(config.trial), m_task);
    });
}

void TemplatesPage::connectWorkspace()
{
    SessionBridge& bridge = m_workspace.bridge();
    connect(&bridge, &SessionBridge::opened, this, &TemplatesPage::onOpened);
    connect(&bridge, &SessionBridge::closed, this, &TemplatesPage::onClosed);
    connect(&m_workspace.selection(), &Selection::changed, this, [this](const Selection::Place& place) {
        if (place.task != m_task)
            showTask(place.task);
        else
            markSelected();
    });
}

/// The line of the trial that is selected everywhere, where this task has it.
void TemplatesPage::markSelected()
{
    const std::string record = m_workspace.selection().current().record.toStdString();
    const session::TemplateTrials* trials = record.empty() ? nullptr : shownTrials();
    std::int64_t marked = 0;
    if (trials != nullptr)
        for (const session::TriedConfig& config : trials->configs)
            if (config.trial == record)
                marked = config.row;
    m_lines->setMarked(marked);
}

void TemplatesPage::retranslate()
{
    m_template->setAccessibleName(tr("Template"));
    m_template->setToolTip(tr("The templates that compute this task"));
    m_origin->setAccessibleName(tr("Measured for"));
    m_origin->setToolTip(tr("What the trials were measured for: costs of different devices do not compare"));
    m_lines->setAccessibleName(tr("Configurations as lines through the knobs"));
    m_knobs->setAccessibleName(tr("Knobs of the template"));
    m_costs->setAccessibleName(tr("Cost by the values of the knob"));
    m_winner->setToolTip(tr("By the records that an export chooses from: where finals measured them again, the figures "
                            "are those of the finals"));
    fillTemplates();
}

void TemplatesPage::onOpened()
{
    onClosed();
    auto history = m_workspace.session()->history();
    if (!history)
        m_failure = history.error();
    m_reader.setHistory(history ? *std::move(history) : nullptr);
    look();
    showTask(m_workspace.selection().current().task);
}

/// For the templates of the network, once the page is in sight: their spaces are counted, which takes a while.
void TemplatesPage::look()
{
    if (!isVisible() || m_workspace.session() == nullptr || m_templates || m_looking.isRunning())
        return;
    m_looking = m_jobs.run([session = m_workspace.bridge().shared()](const JobLink&) { return session->templates(); },
                           [this](std::vector<session::TemplateView> views) {
                               m_templates = std::move(views);
                               fillTemplates();
                           });
}

void TemplatesPage::onClosed()
{
    m_looking.drop();
    m_reader.setHistory(nullptr);
    m_templates.reset();
    m_failure.reset();
    showTask(-1);
}

void TemplatesPage::showTask(int task)
{
    m_task = task;
    m_history = {};
    if (m_reader.isOpen())
        m_failure.reset();
    m_isRead = false;
    m_knob = 0;
    m_isPicked = false;
    m_reading.drop(); // those of another task
    m_reads->dropped();
    fillTemplates();
    m_reads->ask();
}

void TemplatesPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    look();
    m_reads->resume();
}

/// While it is in sight; else when it comes into sight.
bool TemplatesPage::read()
{
    if (!isVisible() || m_task < 0 || !m_reader.isOpen())
        return false;
    m_reading = m_reader.ask(
        [task = m_task](session::History& history, std::stop_token stop) { return history.templateTrials(task, stop); },
        [this](Result<session::TemplateHistory> read) {
            take(std::move(read));
            m_reads->ended();
        });
    return true;
}

/// After a failure what was read before stays.
void TemplatesPage::take(Result<session::TemplateHistory> read)
{
    m_failure.reset();
    if (read) {
        m_history = *std::move(read);
        m_isRead = true;
    } else {
        m_failure = read.error();
        m_workspace.addIssue(tr("templates"), read.error(), m_task);
    }
    fillOrigins();
    showWinner();
    fill();
}

/// Those of the task.
void TemplatesPage::fillTemplates()
{
    const QSignalBlocker blocker(m_template);
    const QString before = m_template->currentText();
    m_template->clear();
    if (m_templates)
        for (std::size_t i = 0; i < m_templates->size(); ++i) {
            const session::TemplateView& view = (*m_templates)[i];
            if (std::find(view.tasks.begin(), view.tasks.end(), m_task) != view.tasks.end()) {
                m_template->addItem(asText(view.name), static_cast<int>(i));
                m_template->setItemData(m_template->count() - 1, asText(view.workload), Qt::ToolTipRole);
            }
        }
    if (const int same = m_template->findText(before); same >= 0)
        m_template->setCurrentIndex(same);
    showWinner();
    fillOrigins();
    fill();
}

void TemplatesPage::fillOrigins()
{
    const QSignalBlocker blocker(m_origin);
    const QVariant before = m_origin->currentData(kOriginTarget);
    m_origin->clear();
    std::vector<std::int64_t> trials(m_history.origins.size());
    for (const session::TemplateTrials& each : m_history.templates)
        for (const session::TriedConfig& config : each.configs)
            ++trials[static_cast<std::size_t>(config.origin)];
    for (std::size_t i = 0; i < trials.size(); ++i)
        if (trials[i] > 0) {
            m_origin->addItem(i == 0 ? tr("measured for this target") : originText(m_history.origins[i]),
                              static_cast<int>(i));
            m_origin->setItemData(m_origin->count() - 1, asText(m_history.origins[i]), kOriginTarget);
        }
    if (const int same = m_origin->findData(before, kOriginTarget); before.isValid() && same >= 0)
        m_origin->setCurrentIndex(same);
    // Where all trials come from elsewhere, that is to be seen, too.
    m_origin->setVisible(m_origin->count() > 1 || origin() != 0);
}

/// Core marks the targets of logs in English.
QString TemplatesPage::originText(const std::string& target)
{
    const QString text = asText(target), mark = QStringLiteral("imported: ");
    return text.startsWith(mark) ? tr("from a log: %1").arg(text.mid(mark.size())) : text;
}

/// Of several templates that with the fastest record, until somebody picks another.
void TemplatesPage::showWinner()
{
    const QSignalBlocker blocker(m_template);
    const int winner = m_template->findText(asText(m_history.byTemplate.name));
    if (!m_isPicked && winner >= 0)
        m_template->setCurrentIndex(winner);
}

int TemplatesPage::origin() const
{
    return m_origin->count() == 0 ? 0 : m_origin->currentData().toInt();
}

const session::TemplateView* TemplatesPage::shownTemplate() const
{
    return !m_templates || m_template->currentIndex() < 0
               ? nullptr
               : &(*m_templates)[static_cast<std::size_t>(m_template->currentData().toInt())];
}

const session::TemplateTrials* TemplatesPage::shownTrials() const
{
    const session::TemplateView* view = shownTemplate();
    for (const session::TemplateTrials& trials : m_history.templates)
        if (view != nullptr && trials.name == view->name)
            return &trials;
    return nullptr;
}

const session::TriedConfig* TemplatesPage::bestConfig() const
{
    const session::TemplateTrials* trials = shownTrials();
    const int from = origin();
    const session::TriedConfig* best = nullptr;
    if (trials != nullptr)
        for (const session::TriedConfig& config : trials->configs)
            if (config.origin == from && std::isfinite(config.costMs)
                && (best == nullptr || config.costMs < best->costMs))
                best = &config;
    return best;
}

QString TemplatesPage::emptyText() const
{
    if (m_workspace.session() == nullptr)
        return tr("Open a network to see the templates of its tasks.");
    if (!m_templates)
        return tr("Looking for templates…");
    if (m_templates->empty())
        return tr("No template computes a task of this network on this target.");
    if (m_task < 0)
        return tr("Select a task to see its templates.");
    if (m_template->count() == 0)
        return tr("No template computes this task on this target.");
    if (m_failure)
        return tr("The trials could not be read: %1").arg(errorText(*m_failure));
    if (!m_isRead)
        return tr("Reading the trials…");
    const session::TemplateView* view = shownTemplate();
    return view != nullptr && !view->hasSteps
               ? tr("This template cannot be turned into code yet: its space can be looked at, not measured.")
               : tr("Nothing was measured with this template yet. Choose the policy template for the next run, or "
                    "import a log of a template tuner.");
}

QString TemplatesPage::spaceText(const session::TemplateView& view) const
{
    const QLocale locale;
    const double percent = 100 * view.invalidShare;
    const QString share = QString::number(percent, 'f', percent > 0 && percent < 10 ? 1 : 0);
    const QString invalid = view.invalidShare <= 0
                                ? view.invalidIsExact ? tr("all of them valid") : tr("nearly all of them valid")
                            : view.invalidIsExact ? tr("%1 % of them invalid").arg(share)
                                                  : tr("about %1 % of them invalid").arg(share);
    return tr("%1: %2 configurations of %3 knobs, %4.")
        .arg(asText(view.name), locale.toString(static_cast<qulonglong>(view.size)),
             locale.toString(static_cast<qulonglong>(view.knobs.size())), invalid);
}

/// Of tasks that have one workload the first is searched; the others measure what was best there.
QString TemplatesPage::otherTasksText(const session::TemplateView& view) const
{
    if (view.tasks.size() < 2)
        return {};
    const auto name = [this](std::int32_t task) {
        return QStringLiteral("#%1 %2").arg(task).arg(asText(m_workspace.tasks().task(task).name));
    };
    if (view.tasks.front() != m_task)
        return tr("The space is searched for the task %1; this one measures what was best there.")
            .arg(name(view.tasks.front()));
    QStringList others;
    for (std::size_t i = 1; i < view.tasks.size(); ++i)
        others << name(view.tasks[i]);
    return tr("What is best here is also measured for %1.").arg(others.join(QStringLiteral(", ")));
}

QString TemplatesPage::winnerText() const
{
    const session::BestWay &byTemplate = m_history.byTemplate, &bySearch = m_history.bySearch;
    if (byTemplate.name.empty())
        return {};
    const QString name = asText(byTemplate.name), cost = msText(byTemplate.costMs);
    if (bySearch.name.empty())
        return tr("%1 %2: the template is used, the search has not measured this task.").arg(name, cost);
    const QString other = msText(bySearch.costMs);
    return byTemplate.costMs <= bySearch.costMs ? tr("%1 %2, sketch %3: the template is used.").arg(name, cost, other)
                                                : tr("%1 %2, sketch %3: the sketch is used.").arg(name, cost, other);
}

QString TemplatesPage::bestText() const
{
    const session::TemplateTrials* trials = shownTrials();
    const session::TriedConfig* best = bestConfig();
    if (best == nullptr)
        return {};
    QStringList choices;
    for (std::size_t k = 0; k < trials->knobs.size(); ++k)
        choices << QStringLiteral("%1 %2").arg(
            asText(trials->knobs[k].name),
            asText(trials->knobs[k].values[static_cast<std::size_t>(best->values[k])].text));
    const QString cost = msText(best->costMs), chosen = choices.join(QStringLiteral(", "));
    return origin() == 0 ? tr("Fastest trial so far: %1 with %2").arg(cost, chosen)
                         : tr("Fastest trial so far (%1): %2 with %3").arg(m_origin->currentText(), cost, chosen);
}

void TemplatesPage::fill()
{
    const session::TemplateView* view = shownTemplate();
    const session::TemplateTrials* trials = shownTrials();
    m_template->setVisible(m_template->count() > 1);
    m_details->setVisible(view != nullptr);
    m_space->setText(view == nullptr
                         ? QString()
                         : unbroken((spaceText(*view) + QLatin1Char(' ') + otherTasksText(*view)).trimmed()));
    m_space->setToolTip(view == nullptr ? QString() : asText(view->workload));
    m_winner->setText(view == nullptr ? QString() : QStringLiteral("<b>%1</b>").arg(winnerText().toHtmlEscaped()));
    m_best->setText(view == nullptr ? QString() : bestText());
    m_winner->setVisible(view != nullptr && !winnerText().isEmpty());
    m_space->setVisible(view != nullptr);
    m_best->setVisible(!m_best->text().isEmpty());
    m_knobModel->setTemplate(view == nullptr ? std::vector<session::KnobView>() : view->knobs, trials, bestConfig());
    fillLines(trials);
    if (view != nullptr && !view->knobs.empty()) {
        m_knob = std::clamp(m_knob, 0, static_cast<int>(view->knobs.size()) - 1);
        m_knobs->setCurrentIndex(m_knobModel->index(m_knob, 0));
    }
    showKnob(m_knob);
}

void TemplatesPage::fillLines(const session::TemplateTrials* trials)
{
    auto lines = std::make_shared<ParallelView::Lines>();
    if (trials != nullptr) {
        for (const session::TriedKnob& knob : trials->knobs) {
            QStringList values;
            for (const session::TriedKnob::Value& value : knob.values)
                values << asText(value.text);
            lines->axes.push_back({asText(knob.name), values});
        }
        const int from = origin();
        for (const session::TriedConfig& config : trials->configs)
            if (config.origin == from)
                lines->lines.push_back(
                    {config.row,
                     from == 0 ? tr("Trial %1").arg(asText(config.trial).left(kIdDigits))
                               : tr("Trial %1 (%2)").arg(asText(config.trial).left(kIdDigits), m_origin->currentText()),
                     {config.values.begin(), config.values.end()},
                     config.costMs});
    }
    m_lines->setMessage(emptyText());
    m_lines->setLines(std::move(lines));
    markSelected();
}

void TemplatesPage::showKnob(int knob)
{
    m_knob = knob;
    const session::TemplateView* view = shownTemplate();
    const bool there = view != nullptr && knob >= 0 && knob < static_cast<int>(view->knobs.size());
    m_lines->setMarkedAxis(there ? knob : -1);
    m_costModel->setKnob(shownTrials(), static_cast<std::size_t>(knob), origin());
    m_noCosts->refresh(); // it may have another reason now
    m_costTitle->setText(there ? tr("Cost by %1").arg(asText(view->knobs[static_cast<std::size_t>(knob)].name))
                               : QString());
}

} // namespace lathe::ui
