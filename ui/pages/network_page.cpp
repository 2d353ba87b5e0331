#include "ui/pages/network_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/commands/window_actions.h"
#include "ui/dialogs/weights_dialog.h"
#include "ui/models/language.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/layouts_panel.h"
#include "ui/views/graph_legend.h"
#include "ui/views/graph_view.h"
#include "ui/views/spacing.h"
#include "ui/views/zoomable.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kNoticeMs = 6000;
constexpr int kWide = 1000; ///< from which on the table of layouts stands beside the graph

} // namespace

NetworkPage::NetworkPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    m_graph = new GraphView(this);
    m_graph->setObjectName(QStringLiteral("graphView"));
    makeFind();
    makeNotices();
    makeWayBar();
    m_layouts = new LayoutsPanel(workspace, this);
    m_layouts->hide();
    m_legend = new GraphLegend(this);
    m_legend->setObjectName(QStringLiteral("graphLegend"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kNone);
    layout->addWidget(makeBar());
    layout->addWidget(m_notice);
    layout->addWidget(m_layoutNotice);
    layout->addWidget(m_wayBar);
    m_parts = new QSplitter(Qt::Vertical, this);
    m_parts->addWidget(m_graph);
    m_parts->addWidget(m_layouts);
    m_parts->setStretchFactor(0, 3);
    m_parts->setStretchFactor(1, 2);
    layout->addWidget(m_parts, 1);
    layout->addWidget(m_legend);
    setFocusProxy(m_graph);
    connectGraph();
    connect(&workspace.bridge(), &SessionBridge::opened, this, &NetworkPage::takeGraph);
    connect(&workspace, &Workspace::figuresChanged, this, &NetworkPage::updateFigures);
    connect(&workspace.bridge(), &SessionBridge::coverageRead, this, &NetworkPage::takeCoverage);
    connect(&workspace.selection(), &Selection::changed, this, &NetworkPage::follow);
}

void NetworkPage::contribute(WindowActions& actions)
{
    using enum MenuSection;
    actions.add("graph.next", QT_TRANSLATE_NOOP("Actions", "&Next node found"), {QKeySequence(Qt::Key_F3)},
                MenuPlace{EditFind, 20}, [this] { findNext(1); });
    actions.add("graph.previous", QT_TRANSLATE_NOOP("Actions", "&Previous node found"), {Qt::SHIFT | Qt::Key_F3},
                MenuPlace{EditFind, 30}, [this] { findNext(-1); });
    actions.add("view.zoomIn", QT_TRANSLATE_NOOP("Actions", "Zoom &in"), {QKeySequence(QKeySequence::ZoomIn)},
                MenuPlace{ViewPicture, 10}, [this] { zoomBy(1.25); });
    actions.add("view.zoomOut", QT_TRANSLATE_NOOP("Actions", "Zoom &out"), {QKeySequence(QKeySequence::ZoomOut)},
                MenuPlace{ViewPicture, 20}, [this] { zoomBy(0.8); });
    actions.add("view.fit", QT_TRANSLATE_NOOP("Actions", "Zoom to &fit"), {Qt::CTRL | Qt::Key_0},
                MenuPlace{ViewPicture, 30}, [this] {
                    if (Zoomable* const view = zoomableView(QApplication::focusWidget()))
                        view->zoomToFit();
                    else
                        m_graph->zoomToFit();
                });
    actions.add("graph.fold", QT_TRANSLATE_NOOP("Actions", "Fold all group&s"), {Qt::CTRL | Qt::Key_BracketLeft},
                MenuPlace{ViewPicture, 40}, [this] { m_graph->foldAll(); });
    actions.add("graph.unfold", QT_TRANSLATE_NOOP("Actions", "&Unfold all groups"), {Qt::CTRL | Qt::Key_BracketRight},
                MenuPlace{ViewPicture, 50}, [this] { m_graph->unfoldAll(); });
    actions.addWhileOpen("graph.weights", QT_TRANSLATE_NOOP("Actions", "&Weights…"), {}, MenuPlace{ViewPicture, 55},
                         [this] { showWeights(m_workspace.selection().current().node); });
    QAction* const layouts = actions.addWhileOpen("graph.layouts", QT_TRANSLATE_NOOP("Actions", "La&youts of tensors"),
                                                  {}, MenuPlace{ViewPicture, 57}, [this] { toggleLayouts(); });
    layouts->setCheckable(true);
    connect(m_showLayouts, &QAction::toggled, layouts, &QAction::setChecked);
    connect(layouts, &QAction::triggered, m_showLayouts,
            [this, layouts] { layouts->setChecked(m_showLayouts->isChecked()); });
    actions.add("graph.save", QT_TRANSLATE_NOOP("Actions", "Save the network's pi&cture…"), {},
                MenuPlace{ViewPicture, 60}, [this] { savePicture(); });
}

/// Shows them, wherever the window is; hides them where they are in sight.
void NetworkPage::toggleLayouts()
{
    const bool shows = !m_layouts->isVisible();
    if (shows)
        emit frontRequested();
    m_showLayouts->setChecked(shows);
}

/// What the table of layouts shows is on the graph's edges, too, while it is open.
void NetworkPage::labelEdges()
{
    const session::GraphView* graph = m_graph->scene().graph();
    const session::LayoutsView* layouts = m_showLayouts->isChecked() ? m_layouts->shown() : nullptr;
    const std::vector<std::int32_t> changed = m_layouts->changedTensors();
    const bool shows = graph != nullptr && layouts != nullptr;
    m_graph->setEdgeLayouts(shows ? EdgeLayouts::of(*graph, *layouts, changed) : std::vector<EdgeLayout>());
    m_legend->setEdgeTexts(shows, !changed.empty());
}

/// The view that has the focus, where it can be zoomed; else the network.
void NetworkPage::zoomBy(double factor)
{
    if (Zoomable* const view = zoomableView(QApplication::focusWidget()))
        view->zoomBy(factor);
    else
        m_graph->zoomBy(factor);
}

void NetworkPage::makeFind()
{
    m_find = new QLineEdit(this);
    m_find->setObjectName(QStringLiteral("graphFind"));
    m_find->setClearButtonEnabled(true);
    m_find->setAcceptDrops(false); // files are dropped on the window
    m_find->setMinimumWidth(90);
    m_find->setMaximumWidth(260);
    m_find->installEventFilter(this);
    m_found = new QLabel(this);
    m_found->setObjectName(QStringLiteral("graphFound"));
    m_found->setContentsMargins(spacing::kMedium, spacing::kNone, spacing::kMedium, spacing::kNone);
    m_coloring = new QComboBox(this);
    m_coloring->setObjectName(QStringLiteral("graphColoring"));
    for (int i = 0; i < 4; ++i)
        m_coloring->addItem(QString());
    connect(m_find, &QLineEdit::textChanged, this, &NetworkPage::find);
    connect(m_coloring, &QComboBox::currentIndexChanged, this, &NetworkPage::setColoring);
}

void NetworkPage::makeNotices()
{
    m_notice = new QLabel(this);
    m_notice->setObjectName(QStringLiteral("graphNotice"));
    m_notice->setWordWrap(true);
    m_notice->hide();
    m_layoutNotice = new QLabel(this);
    m_layoutNotice->setObjectName(QStringLiteral("graphLayoutNotice"));
    m_layoutNotice->setWordWrap(true);
    m_layoutNotice->setContentsMargins(spacing::kMedium, spacing::kHair, spacing::kMedium, spacing::kHair);
    m_layoutNotice->hide();
    auto* timer = new QTimer(this);
    timer->setSingleShot(true);
    connect(timer, &QTimer::timeout, m_notice, &QWidget::hide);
    connect(m_graph, &GraphView::notice, this, [this, timer](const QString& text) {
        m_notice->setText(text);
        m_notice->show();
        timer->start(kNoticeMs);
    });
    connect(m_graph, &GraphView::layoutFailed, this, [this](const QString& sentence) {
        m_layoutNotice->setText(tr("%1 A plain layout is shown instead.").arg(sentence));
        m_layoutNotice->show();
    });
    connect(m_graph, &GraphView::layoutReady, m_layoutNotice, &QWidget::hide);
}

void NetworkPage::makeWayBar()
{
    m_wayBar = new QWidget(this);
    m_way = new QLabel(m_wayBar);
    m_way->setObjectName(QStringLiteral("graphWay"));
    m_way->setWordWrap(true);
    m_way->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* hide = new QToolButton(m_wayBar);
    hide->setObjectName(QStringLiteral("graphWayHide"));
    hide->setAutoRaise(true);
    hide->setText(QStringLiteral("✕"));
    connect(hide, &QToolButton::clicked, m_graph, [this] { m_graph->showWay(-1, -1); });
    auto* layout = new QHBoxLayout(m_wayBar);
    layout->setContentsMargins(spacing::kMedium, spacing::kHair, spacing::kMedium, spacing::kHair);
    layout->addWidget(m_way, 1);
    layout->addWidget(hide);
    m_wayBar->hide();
    retranslated(hide, [hide] {
        hide->setToolTip(tr("Hide the path (Esc)"));
        hide->setAccessibleName(tr("Hide the path"));
    });
}

void NetworkPage::showWay(const GraphWay& way)
{
    m_wayBar->setVisible(way.from >= 0);
    if (way.from < 0)
        return;
    const auto& nodes = m_workspace.session()->graph()->nodes;
    const auto name = [&nodes](int node) {
        return QString::fromStdString(modelName(nodes[static_cast<std::size_t>(node)]));
    };
    if (!way.exists()) {
        m_way->setText(
            tr("Nothing leads from %1 to %2: they are on different branches.").arg(name(way.from), name(way.to)));
        return;
    }
    const QString length = way.longest == 1              ? tr("1 edge long")
                           : way.shortest == way.longest ? tr("%1 edges long").arg(way.longest)
                                                         : tr("%1 to %2 edges long").arg(way.shortest).arg(way.longest);
    const QString paths = way.paths == 1 ? tr("1 path") : tr("%1 paths").arg(way.paths, 0, 'g', 7);
    m_way->setText(tr("From %1 to %2: %3, %4, through %5 nodes")
                       .arg(name(way.from), name(way.to), paths, length)
                       .arg(way.nodes.size()));
}

void NetworkPage::showWeights(int node)
{
    if (m_workspace.session() == nullptr)
        return;
    const auto& nodes = m_workspace.session()->graph()->nodes;
    std::int32_t constant = -1; // none is chosen: the dialog begins with the first of the network
    if (node >= 0 && node < static_cast<int>(nodes.size()))
        for (const session::TensorView& input : nodes[static_cast<std::size_t>(node)].inputs)
            constant = constant < 0 ? input.constant : constant;
    WeightsDialog::showFor(*m_workspace.session(), this, constant);
}

QToolBar* NetworkPage::makeBar()
{
    auto* bar = new QToolBar(this); // what does not fit goes into its menu
    bar->setObjectName(QStringLiteral("graphBar"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_find, m_found, m_coloring})
        bar->addWidget(widget);
    const auto button = [bar](const char* name) {
        QAction* action = bar->addAction(QString());
        action->setObjectName(QLatin1String(name));
        if (QWidget* widget = bar->widgetForAction(action))
            widget->setFocusPolicy(Qt::StrongFocus);
        return action;
    };
    QAction* fold = button("graphFold");
    QAction* unfold = button("graphUnfold");
    QAction* names = button("graphNames");
    names->setCheckable(true);
    QAction* overview = button("graphOverview");
    overview->setCheckable(true);
    overview->setChecked(true);
    QAction* layouts = m_showLayouts = button("graphLayouts");
    layouts->setCheckable(true);
    QAction* picture = button("graphSave");
    connect(layouts, &QAction::toggled, this, [this](bool on) {
        m_layouts->setVisible(on);
        if (on)
            m_parts->setSizes({1000, 1000}); // halves, of whatever room there is
        labelEdges();
    });
    connect(fold, &QAction::triggered, m_graph, &GraphView::foldAll);
    connect(unfold, &QAction::triggered, m_graph, &GraphView::unfoldAll);
    connect(names, &QAction::toggled, m_graph, &GraphView::setShowsNames);
    connect(overview, &QAction::toggled, m_graph, &GraphView::setShowsOverview);
    connect(picture, &QAction::triggered, this, &NetworkPage::savePicture);
    retranslated(this, [this, fold, unfold, names, overview, layouts, picture, bar] {
        m_graph->setAccessibleName(tr("Network graph"));
        m_find->setPlaceholderText(tr("Find name, type, shape"));
        m_find->setAccessibleName(tr("Find nodes by name, type or shape"));
        const QString colors[] = {tr("Colour: task"), tr("Colour: share of run time"), tr("Colour: layout"),
                                  tr("Colour: coverage")};
        for (int i = 0; i < 4; ++i)
            m_coloring->setItemText(i, colors[i]);
        m_coloring->setAccessibleName(tr("What the colours show"));
        fold->setText(tr("Fold all"));
        unfold->setText(tr("Unfold all"));
        names->setText(tr("Names"));
        names->setToolTip(tr("Show the model's names of the nodes instead of their operators"));
        overview->setText(tr("Overview"));
        layouts->setText(tr("Layouts"));
        layouts->setToolTip(tr("Show in which layouts tensors are written and read, and what that costs"));
        picture->setText(tr("Save picture…"));
        bar->setWindowTitle(tr("Network"));
        find(m_find->text());
    });
    return bar;
}

void NetworkPage::connectGraph()
{
    connect(m_graph, &GraphView::nodeSelected, this, [this](int node) {
        const auto graph = m_workspace.session() != nullptr ? m_workspace.session()->graph() : nullptr;
        if (graph && node >= 0 && m_workspace.selection().current().node != node)
            m_workspace.selection().selectNode(node, graph->nodes[static_cast<std::size_t>(node)].task);
    });
    connect(m_layouts, &LayoutsPanel::subgraphPicked, this, [this](int subgraph) {
        const auto graph = m_workspace.session() != nullptr ? m_workspace.session()->graph() : nullptr;
        if (!graph)
            return;
        for (const session::NodeView& node : graph->nodes)
            if (node.subgraph == subgraph) {
                m_workspace.selection().selectNode(node.id, node.task);
                return;
            }
    });
    connect(m_layouts, &LayoutsPanel::shownChanged, this, &NetworkPage::labelEdges);
    connect(m_graph, &GraphView::wayChanged, this, &NetworkPage::showWay);
    connect(m_graph, &GraphView::weightsWanted, this, &NetworkPage::showWeights);
    connect(m_graph, &GraphView::taskSelected, this, [this](int task) { m_workspace.selection().selectTask(task); });
}

void NetworkPage::takeGraph()
{
    m_wayBar->hide();
    m_graph->setGraph(m_workspace.session()->graph());
    m_finder.setGraph(m_workspace.session()->graph());
    m_near.clear();
    updateFigures();
    find(m_find->text());
}

void NetworkPage::takeCoverage(const session::Coverage& coverage)
{
    m_near.clear();
    for (const session::SubgraphReport& subgraph : coverage.subgraphs)
        if (subgraph.cover == session::Cover::Near)
            m_near.insert(subgraph.task);
    updateFigures();
}

void NetworkPage::setColoring(int index)
{
    const auto coloring = static_cast<GraphColoring>(index);
    m_graph->setColoring(coloring);
    m_legend->setColoring(coloring);
    if (coloring == GraphColoring::Coverage && m_workspace.session() != nullptr)
        m_workspace.bridge().readCoverage(false);
}

void NetworkPage::follow(const Selection::Place& place)
{
    if (place.node < 0)
        m_graph->selectTask(place.task);
    else
        m_graph->selectNode(place.node);
}

void NetworkPage::updateFigures()
{
    std::vector<GraphTaskFigure> figures;
    const TaskModel& tasks = m_workspace.tasks();
    for (int row = 0; row < tasks.rowCount(); ++row) {
        const session::TaskView& task = tasks.task(row);
        GraphCoverage coverage = std::isfinite(task.bestMs) ? GraphCoverage::Record
                                 : task.trials > 0          ? GraphCoverage::Default
                                                            : GraphCoverage::Untuned;
        if (coverage == GraphCoverage::Record && m_near.contains(row))
            coverage = GraphCoverage::Near;
        figures.push_back({task.share / std::max(1, task.weight), coverage});
    }
    m_graph->setFigures(std::move(figures));
}

/// The table of layouts stands where it has room: beside the graph in a wide window, else below it.
void NetworkPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    m_parts->setOrientation(width() >= kWide ? Qt::Horizontal : Qt::Vertical);
}

void NetworkPage::startFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
}

void NetworkPage::find(const QString& text)
{
    m_matches = m_finder.find(text);
    m_match = -1;
    m_graph->setMatches({m_matches.begin(), m_matches.end()});
    m_found->setText(text.trimmed().isEmpty() ? QString()
                     : m_matches.empty()      ? tr("none")
                                              : tr("%n found", nullptr, static_cast<int>(m_matches.size())));
}

void NetworkPage::findNext(int direction)
{
    if (m_matches.empty())
        return;
    const int count = static_cast<int>(m_matches.size());
    m_match = m_match < 0 ? (direction > 0 ? 0 : count - 1) : (m_match + direction + count) % count;
    m_found->setText(tr("%1 of %2").arg(m_match + 1).arg(count));
    m_graph->selectNode(m_matches[static_cast<std::size_t>(m_match)]);
}

bool NetworkPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_find && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            findNext(key->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            m_find->clear();
            m_graph->setFocus();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void NetworkPage::savePicture()
{
    if (m_workspace.session() == nullptr)
        return;
    const QString file = QFileDialog::getSaveFileName(this, tr("Save network picture"), QStringLiteral("network.svg"),
                                                      tr("SVG image (*.svg);;PNG image (*.png)"));
    if (!file.isEmpty() && !m_graph->savePicture(file))
        m_workspace.addIssue(QStringLiteral("StoreFailed"), file, tr("The picture cannot be written"));
}

} // namespace lathe::ui
