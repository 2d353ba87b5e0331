#include "ui/pages/properties_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/weights_dialog.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/empty_state.h"
#include "ui/views/spacing.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QHeaderView>
#include <QMenu>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lathe::ui {

namespace {

constexpr char kDagShown[] = "nested"; // as `lathe-cli tasks --print-dag` does unless told otherwise

QString tensorText(const session::TensorView& tensor, const QString& layout = {})
{
    return QStringLiteral("%1 %2 %3").arg(QString::fromStdString(tensor.dtype), shapeText(tensor), layout).trimmed();
}

/// An attribute of a layout as it is shown beside its tensor.
QString layoutText(const session::NodeView& node, std::initializer_list<const char*> names)
{
    for (const auto& [name, value] : node.attributes)
        if (std::find(names.begin(), names.end(), name) != names.end())
            return QString::fromStdString(value).remove(QLatin1Char('"'));
    return {};
}

void addLines(QTreeWidgetItem* parent, const std::string& lines)
{
    for (const QString& line : QString::fromStdString(lines).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        auto* child = new QTreeWidgetItem(parent, {line});
        child->setFirstColumnSpanned(true);
        child->setFont(0, QFontDatabase::systemFont(QFontDatabase::FixedFont));
        child->setToolTip(0, line);
    }
}

/// What stands beside the name, or below it: a compute DAG's lines as they are.
QString valueOf(const QTreeWidgetItem& item)
{
    if (!item.text(1).isEmpty() || item.childCount() == 0)
        return item.text(1).isEmpty() ? item.text(0) : item.text(1);
    QStringList lines;
    for (int row = 0; row < item.childCount(); ++row)
        lines << QStringList{item.child(row)->text(0), item.child(row)->text(1)}.join(QLatin1Char(' ')).trimmed();
    return lines.join(QLatin1Char('\n'));
}

} // namespace

PropertiesPage::PropertiesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    m_tree = new QTreeWidget(this);
    m_tree->setObjectName(QStringLiteral("properties"));
    m_tree->setColumnCount(2);
    m_tree->setAlternatingRowColors(true);
    m_tree->setUniformRowHeights(true);
    m_tree->setMinimumSize(80, 60);
    m_tree->header()->resizeSection(0, 150); // "weight conv1.weight", "Workload (hash)"
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_tree, &QWidget::customContextMenuRequested, this, [this](QPoint at) {
        QMenu menu(this);
        menu.addAction(tr("&Copy"), this, [this] { copyView(*m_tree); })->setShortcut(QKeySequence::Copy);
        menu.addAction(tr("Copy the &value"), this, [this] {
            if (const QTreeWidgetItem* item = m_tree->currentItem())
                QApplication::clipboard()->setText(valueOf(*item));
        });
        menu.addAction(tr("Expand &all"), m_tree, &QTreeWidget::expandAll);
        menu.exec(m_tree->viewport()->mapToGlobal(at));
    });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kNone);
    layout->addWidget(m_tree);
    m_weights = new QPushButton(this);
    m_weights->setObjectName(QStringLiteral("propertiesWeights"));
    m_weights->hide();
    layout->addWidget(m_weights);
    connect(m_weights, &QPushButton::clicked, this, [this] { showWeights(m_constant); });
    connect(m_tree, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        if (const QVariant constant = item->data(0, Qt::UserRole); constant.isValid())
            showWeights(constant.toInt());
    });
    setFocusProxy(m_tree);
    new EmptyState(m_tree, [this]() -> EmptyState::Text {
        return m_workspace.session() == nullptr
                   ? EmptyState::Text{tr("Open a network to see its tasks and nodes."), QStringLiteral("actionOpen")}
                   : EmptyState::Text{tr("Select a task or a node."), {}};
    });
    retranslated(this, [this] {
        m_tree->setAccessibleName(tr("Properties of the selected task and node"));
        m_tree->setHeaderLabels({tr("Property"), tr("Value")});
        m_weights->setText(tr("Show &weights…"));
        show(m_workspace.selection().current());
    });
    connect(&workspace.selection(), &Selection::changed, this, &PropertiesPage::show);
    connect(&workspace, &Workspace::figuresChanged, this, &PropertiesPage::updateFigures);
}

void PropertiesPage::show(const Selection::Place& place)
{
    m_reading.drop(); // it is of another task
    m_counting.dropAll(); // before the items that they fill are gone
    m_tree->clear();
    m_best = m_algorithm = nullptr;
    m_constant = -1;
    m_weights->hide();
    if (m_workspace.session() == nullptr)
        return;
    addNode(place.node);
    addTask(place.task);
    m_weights->setVisible(m_constant >= 0);
}

void PropertiesPage::addTask(int task)
{
    if (task < 0 || task >= m_workspace.tasks().rowCount())
        return;
    const session::TaskView& view = m_workspace.tasks().task(task);
    const auto add = [this](const QString& name, const QString& value) {
        auto* item = new QTreeWidgetItem(m_tree, {name, value});
        item->setToolTip(1, value);
        return item;
    };
    add(tr("Task"), QStringLiteral("#%1 %2").arg(task).arg(QString::fromStdString(view.name)));
    add(tr("Weight"), QString::number(view.weight));
    add(tr("MFLOP"), QString::number(view.flop / 1e6, 'f', view.flop < 1e6 ? 4 : 1));
    m_best = add(tr("Best"), QString());
    m_algorithm = add(tr("Algorithm"), QString());
    m_task = task;
    updateFigures();
    QStringList alternatives;
    for (const std::string& alternative : view.alternatives)
        alternatives << QString::fromStdString(alternative);
    add(tr("Alternatives"), alternatives.join(QStringLiteral(", ")));
    QTreeWidgetItem* tensors = add(tr("Tensors"), QString());
    for (const auto& input : view.inputs)
        new QTreeWidgetItem(tensors, {tr("input %1").arg(QString::fromStdString(input.name)), tensorText(input)});
    for (const auto& output : view.outputs)
        new QTreeWidgetItem(tensors, {tr("output %1").arg(QString::fromStdString(output.name)), tensorText(output)});
    tensors->setExpanded(true);
    if (const auto workload = view.workloads.find(kDagShown); workload != view.workloads.end()) {
        QTreeWidgetItem* dag = add(tr("Compute DAG"), QString());
        addLines(dag, workload->second.dag);
        dag->setExpanded(true);
    }
    QTreeWidgetItem* nodes = add(tr("Nodes"), QString::number(view.nodes.size()));
    if (const auto graph = m_workspace.session()->graph())
        for (const int node : view.nodes)
            if (node >= 0 && node < static_cast<int>(graph->nodes.size()))
                new QTreeWidgetItem(nodes, {QString::fromStdString(graph->nodes[static_cast<std::size_t>(node)].op),
                                            QString::fromStdString(graph->nodes[static_cast<std::size_t>(node)].name)});
    add(tr("Key"), QString::fromStdString(view.key));
    readSchedule(task, m_tree->topLevelItemCount());
    for (const auto& [era, workload] : view.workloads) {
        QTreeWidgetItem* item = add(tr("Workload (%1)").arg(QString::fromStdString(era)),
                                    QString::fromStdString(workload.key));
        if (era != kDagShown)
            addLines(item, workload.hashed);
    }
}

/// From the disk; shown above row `at` when it is there.
void PropertiesPage::readSchedule(int task, int at)
{
    if (m_workspace.session()->project() == nullptr)
        return; // a replay shows schedules among the records alone
    m_reading = m_jobs.run([session = m_workspace.bridge().shared(),
                            task](const JobLink&) { return session->project()->bestSchedule(task); },
                           [this, at](const Result<session::ScheduleView>& schedule) {
                               if (!schedule)
                                   return;
                               int row = at;
                               const std::pair<QString, const std::string*> parts[] = {
                                   {tr("Loops of the best schedule"), &schedule->loops},
                                   {tr("Steps"), &schedule->steps}};
                               for (const auto& [name, lines] : parts) {
                                   auto* item = new QTreeWidgetItem({name});
                                   m_tree->insertTopLevelItem(row++, item);
                                   addLines(item, *lines);
                               }
                           });
}

/// What moves with the run.
void PropertiesPage::updateFigures()
{
    if (m_best == nullptr || m_task >= m_workspace.tasks().rowCount())
        return;
    const session::TaskView& view = m_workspace.tasks().task(m_task);
    m_best->setText(1, msText(view.bestMs));
    m_algorithm->setText(1, view.bestAlternative.empty() ? QStringLiteral("–")
                                                         : QString::fromStdString(view.bestAlternative));
}

/// With what it takes; a constant can be opened.
void PropertiesPage::addTensor(QTreeWidgetItem* parent, const QString& name, const session::TensorView& tensor,
                               const QString& layout)
{
    auto* item = new QTreeWidgetItem(parent, {name, tensorText(tensor, layout)});
    item->setToolTip(0, name);
    item->setToolTip(1, item->text(1));
    if (tensor.constant < 0)
        return;
    item->setData(0, Qt::UserRole, tensor.constant);
    item->setToolTip(1, tr("%1. Double-click to see the values.").arg(item->text(1)));
    if (m_constant < 0)
        m_constant = tensor.constant;
    readStatistics(item, tensor);
}

/// A line below the weight, once they are there; of a large one when its values are looked at.
void PropertiesPage::readStatistics(QTreeWidgetItem* item, const session::TensorView& tensor)
{
    constexpr std::int64_t kAtOnce = std::int64_t{1} << 24;
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.shape)
        count *= extent;
    if (count > kAtOnce)
        return;
    m_counting.run(
        [weights = m_workspace.session()->weights(), constant = tensor.constant](const JobLink& link) {
            return weights->statistics(constant, link.stopToken());
        },
        [item](const Result<std::shared_ptr<const session::WeightStatistics>>& read) {
            if (!read)
                return;
            const session::WeightStatistics& s = **read;
            const auto number = [](double value) { return QString::number(value, 'g', 4); };
            const double zeros = s.count > 0 ? 100 * static_cast<double>(s.zeros) / static_cast<double>(s.count) : 0;
            QString text = tr("%1 to %2, mean %3, zeros %4 %")
                               .arg(number(s.min), number(s.max), number(s.mean), QString::number(zeros, 'f', 1));
            if (const std::int64_t wrong = s.nans + s.infinities; wrong > 0)
                text += tr(", NaN or infinite: %1").arg(wrong);
            auto* line = new QTreeWidgetItem(item, {tr("Values"), text});
            line->setToolTip(1, text);
            item->setExpanded(true);
        });
}

void PropertiesPage::showWeights(std::int32_t constant)
{
    if (m_workspace.session() != nullptr && constant >= 0)
        WeightsDialog::showFor(*m_workspace.session(), this, constant);
}

void PropertiesPage::addNode(int node)
{
    const auto graph = m_workspace.session()->graph();
    if (!graph || node < 0 || node >= static_cast<int>(graph->nodes.size()))
        return;
    const session::NodeView& view = graph->nodes[static_cast<std::size_t>(node)];
    auto* item = new QTreeWidgetItem(
        m_tree,
        {tr("Node"), QStringLiteral("%1 %2").arg(QString::fromStdString(view.op), QString::fromStdString(view.name))});
    item->setToolTip(1, item->text(1));
    if (!view.origin.empty() && view.origin != view.name)
        new QTreeWidgetItem(item, {tr("Name in the model"), QString::fromStdString(view.origin)});
    if (view.task >= 0)
        new QTreeWidgetItem(item, {tr("Task"), QStringLiteral("#%1").arg(view.task)});
    const QString activations = layoutText(view, {"data_layout", "layout", "out_layout"});
    for (std::size_t i = 0; i < view.inputs.size(); ++i) {
        const QString layout = i == 0 ? activations : i == 1 ? layoutText(view, {"kernel_layout"}) : QString();
        const QString name = QString::fromStdString(view.inputs[i].name);
        const QString reader = QString::fromStdString(view.origin.empty() ? view.name : view.origin);
        addTensor(item,
                  view.inputs[i].constant >= 0 ? tr("weight %1").arg(weightTitle(view.inputs[i], reader))
                                               : tr("input %1").arg(name),
                  view.inputs[i], layout);
    }
    for (const auto& output : view.outputs)
        addTensor(item, tr("output %1").arg(QString::fromStdString(output.name)), output, activations);
    for (const auto& [name, value] : view.attributes)
        new QTreeWidgetItem(item, {QString::fromStdString(name), QString::fromStdString(value)});
    if (!view.reason.empty())
        new QTreeWidgetItem(item, {tr("No task"), coreText(view.reason, view.about)});
    item->setExpanded(true);
}

} // namespace lathe::ui
