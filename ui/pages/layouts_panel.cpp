#include "ui/pages/layouts_panel.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/layout_figure_model.h"
#include "ui/models/layout_function_model.h"
#include "ui/models/layout_tensor_model.h"
#include "ui/models/rereading.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"
#include "ui/views/write_access.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace lathe::ui {

namespace {

constexpr qsizetype kMostNamedFunctions = 5; ///< in the sentence that says what a wish changes

} // namespace

LayoutsPanel::LayoutsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("layoutsPanel"));
    m_reads = new Rereading(
        workspace, [this] { return read(); }, this);
    makeWidgets();
    connectWidgets();
    retranslated(this, [this] { retranslate(); });
}

TableView* LayoutsPanel::makeTable(const char* name, QAbstractItemModel* model, std::initializer_list<int> widths)
{
    auto* table = new TableView(name, this);
    table->setModel(model);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    int column = 0;
    for (const int width : widths)
        table->setColumnWidth(column++, width);
    table->restoreColumns();
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        offerWish();
        pick();
    });
    return table;
}

/// As high as its rows: there is nothing to scroll to.
void LayoutsPanel::makeFigures()
{
    m_figureModel = new LayoutFigureModel(this);
    m_figures = new TableView("layoutFigures", this);
    m_figures->setModel(m_figureModel);
    m_figures->setSelectionMode(QAbstractItemView::NoSelection);
    m_figures->setFocusPolicy(Qt::TabFocus);
    m_figures->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_figures->setSizeAdjustPolicy(QAbstractScrollArea::AdjustToContents);
    m_figures->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    int column = 0;
    for (const int width : {110, 84, 96, 84, 104})
        m_figures->setColumnWidth(column++, width);
    m_figures->restoreColumns();
}

void LayoutsPanel::makeWidgets()
{
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        return made;
    };
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        return made;
    };
    m_summary = label("layoutsSummary");
    m_change = label("layoutsChange");
    m_wishLabel = label("layoutsWishLabel");
    m_wishLabel->setWordWrap(false);
    m_measure = button("layoutsMeasure");
    m_clear = button("layoutsClear");
    m_wish = new QComboBox(this);
    m_wish->setObjectName(QStringLiteral("layoutsWish"));
    m_wishLabel->setBuddy(m_wish);
    makeFigures();
    m_tensorModel = new LayoutTensorModel(this);
    m_functionModel = new LayoutFunctionModel(this);
    m_tensors = makeTable("layoutTensors", m_tensorModel, {120, 120, 84, 84, 84, 110});
    m_functions = makeTable("layoutFunctions", m_functionModel, {180, 84, 84, 84, 84, 50});
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("layoutsTabs"));
    m_tabs->addTab(m_tensors, QString());
    m_tabs->addTab(m_functions, QString());
    m_details = new QWidget(this);
    auto* wishes = new QHBoxLayout;
    wishes->addWidget(m_wishLabel);
    wishes->addWidget(m_wish);
    wishes->addWidget(m_clear);
    wishes->addStretch();
    auto* inner = new QVBoxLayout(m_details);
    inner->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    inner->addWidget(m_tabs, 1);
    inner->addLayout(wishes);
    inner->addWidget(m_change);
    auto* measures = new QHBoxLayout;
    measures->addWidget(m_measure);
    measures->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->setSpacing(spacing::kSmall);
    layout->addWidget(m_figures);
    layout->addWidget(m_summary);
    layout->addLayout(measures);
    layout->addWidget(m_details, 1);
    layout->addStretch();
}

void LayoutsPanel::connectWidgets()
{
    connect(m_measure, &QPushButton::clicked, this, [this] {
        m_measures = true;
        m_reads->ask();
    });
    connect(m_clear, &QPushButton::clicked, this, [this] {
        m_wishes.clear();
        wish();
        offerWish();
    });
    connect(m_wish, &QComboBox::activated, this, [this] {
        auto wanted = selected();
        if (!wanted)
            return;
        std::erase_if(m_wishes, [&](const session::LayoutWish& each) {
            return each.isTensor == wanted->isTensor && each.index == wanted->index;
        });
        wanted->layout = m_wish->currentData().toString().toStdString();
        if (!wanted->layout.empty())
            m_wishes.push_back(*wanted);
        wish();
    });
    connect(m_tabs, &QTabWidget::currentChanged, this, &LayoutsPanel::offerWish);
    SessionBridge& bridge = m_workspace.bridge();
    connect(&bridge, &SessionBridge::opened, this, [this] {
        forget();
        m_reads->ask();
    });
    connect(&bridge, &SessionBridge::closed, this, &LayoutsPanel::forget);
}

void LayoutsPanel::retranslate()
{
    m_tabs->setTabText(0, tr("Tensors"));
    m_tabs->setTabText(1, tr("Functions"));
    m_tabs->setAccessibleName(tr("Layouts"));
    m_figures->setAccessibleName(tr("The network by default, kernel-tuned and graph-tuned"));
    m_tensors->setAccessibleName(tr("Layouts of the tensors"));
    m_functions->setAccessibleName(tr("Layouts and kernels of the functions"));
    m_wish->setAccessibleName(tr("Layout to try"));
    m_wish->setToolTip(tr("Shows how long the network would take; exports choose for themselves"));
    m_wishLabel->setText(tr("&Try the layout:"));
    m_clear->setText(tr("&Clear tried layouts"));
    m_measure->setText(tr("&Measure conversions"));
    m_measure->setToolTip(tr("Times the conversions that were never timed on this machine, and keeps the results with "
                             "the project"));
    fill();
}

void LayoutsPanel::forget()
{
    m_jobs.dropAll();
    m_reads->dropped();
    m_layouts.reset();
    m_wishes.clear();
    m_wished.reset();
    m_failure.reset();
    m_isRefused = m_measures = false;
    m_state = State::Closed;
    fill();
}

void LayoutsPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_reads->resume();
}

/// While it is in sight.
bool LayoutsPanel::read()
{
    const auto session = m_workspace.bridge().shared();
    if (!session || !isVisible())
        return false;
    if (session->layouts() == nullptr) {
        m_state = State::IsReplay;
        fill();
        return false;
    }
    const bool measures = std::exchange(m_measures, false);
    m_state = measures ? State::Measuring : State::Choosing;
    m_reading = m_jobs.run(
        [session, measures](const JobLink& link) {
            return session->layouts()->chooseLayouts({{}, measures, {}}, link.stopToken());
        },
        [this](Result<std::shared_ptr<const session::NetworkLayouts>> read) {
            take(std::move(read));
            m_reads->ended();
        });
    fill();
    return true;
}

void LayoutsPanel::take(Result<std::shared_ptr<const session::NetworkLayouts>> read)
{
    m_failure.reset();
    if (read) {
        m_layouts = *std::move(read);
        m_state = m_layouts ? State::Chosen : State::NothingToChoose;
    } else { // what was read before stays
        m_failure = std::move(read).error();
        m_state = State::Failed;
    }
    wish();
}

/// Works out what the wishes change; without any, shows what was chosen.
void LayoutsPanel::wish()
{
    m_wishing.drop();
    m_wished.reset();
    m_isRefused = false;
    if (m_layouts && !m_wishes.empty())
        m_wishing = m_jobs.run(
            [layouts = m_layouts, wishes = m_wishes](const JobLink&) { return layouts->under(wishes); },
            [this](Result<session::WishedLayouts> wished) {
                if (wished)
                    m_wished = *std::move(wished);
                else
                    m_isRefused = true;
                fill();
            });
    fill();
}

/// Why there are no layouts, or is being done about those that there are.
QString LayoutsPanel::stateText() const
{
    switch (m_state) {
    case State::Closed:
        return m_workspace.session() == nullptr ? tr("Open a network to see the layouts of its tensors.") : QString();
    case State::IsReplay: return tr("A replay does not choose layouts: open the project itself.");
    case State::Choosing: return tr("Choosing layouts…");
    case State::Measuring: return tr("Measuring conversions…");
    case State::Failed: return tr("The layouts could not be chosen: %1").arg(errorText(*m_failure));
    case State::NothingToChoose:
        return tr("No record of this project has a layout of its own: all tensors have the layout of the network. "
                  "Templates make records with layouts.");
    case State::Chosen: break;
    }
    return {};
}

QString LayoutsPanel::notesText(const session::LayoutsView& view)
{
    const auto converted = std::ranges::count_if(
        view.tensors, [](const session::LayoutTensor& tensor) { return tensor.written != tensor.read; });
    QStringList parts{tr("%1 of %2 tensors are converted.").arg(converted).arg(view.tensors.size())};
    const auto untimed = std::ranges::count_if(view.functions, [](const session::LayoutFunction& function) {
        return function.task >= 0 && function.trial.empty();
    });
    if (untimed > 0)
        parts
            << tr("Functions that were never timed count as 0 here: %1 of %2.").arg(untimed).arg(view.functions.size());
    if (!view.optimal)
        parts << tr("A faster choice may exist.");
    if (view.guessed > 0)
        parts << tr("The times of %Ln conversions are estimates.", nullptr, static_cast<int>(view.guessed));
    if (view.guessed > 0 && !view.canMeasure)
        parts << tr("They can only be timed on the device of the records, which is not here.");
    return parts.join(QLatin1Char(' '));
}

QString LayoutsPanel::changeText(const session::WishedLayouts& wished)
{
    const QString change = LayoutFunctionModel::changeText(wished.differenceMs);
    const QString total =
        change.isEmpty()
            ? tr("The network takes as long as before.")
            : tr("The network takes %1, %2 against what was chosen.").arg(msText(wished.view.totalMs), change);
    QStringList functions;
    for (const std::int32_t function : wished.functions)
        functions << LayoutTensorModel::functionName(wished.view, function);
    const qsizetype more = functions.size() - kMostNamedFunctions;
    const QString named = functions.mid(0, kMostNamedFunctions).join(QStringLiteral(", "));
    return total + QLatin1Char(' ')
           + (functions.isEmpty() ? tr("No function changes its kernel.")
              : more > 0          ? tr("Other kernels or layouts: %1, and %2 more.").arg(named).arg(more)
                                  : tr("Other kernels or layouts: %1.").arg(named));
}

void LayoutsPanel::fill()
{
    const bool there = m_layouts != nullptr;
    static const session::LayoutsView kEmpty;
    const session::LayoutsView& view = there ? m_layouts->view() : kEmpty;
    m_figureModel->setLayouts(view, m_wished);
    m_tensorModel->setLayouts(view, m_wished);
    m_functionModel->setLayouts(view, m_wished);
    m_details->setVisible(there);
    m_figures->setVisible(there);
    m_figures->updateGeometry(); // the number of its rows changes with what is tried
    m_summary->setText(there ? (notesText(view) + QLatin1Char(' ') + stateText()).trimmed() : stateText());
    m_change->setText(m_wishes.empty() ? QString()
                      : m_isRefused ? tr("These layouts do not go together: no kernels were measured for all of them.")
                      : m_wished    ? changeText(*m_wished)
                                    : tr("Working out what changes…"));
    m_change->setVisible(!m_change->text().isEmpty());
    m_clear->setVisible(!m_wishes.empty());
    m_measure->setVisible(there && view.guessed > 0 && view.canMeasure);
    enableToWrite(*m_measure, !m_reading.isRunning(), m_workspace.whyReadOnly());
    offerWish();
    emit shownChanged();
}

const session::LayoutsView* LayoutsPanel::shown() const
{
    return m_layouts == nullptr ? nullptr : m_wished ? &m_wished->view : &m_layouts->view();
}

std::vector<std::int32_t> LayoutsPanel::changedTensors() const
{
    return m_wished ? m_wished->tensors : std::vector<std::int32_t>();
}

std::optional<session::LayoutWish> LayoutsPanel::selected() const
{
    const bool tensors = m_tabs->currentWidget() == m_tensors;
    const QModelIndex current = (tensors ? m_tensors : m_functions)->currentIndex();
    if (!m_layouts || !current.isValid())
        return std::nullopt;
    return session::LayoutWish{tensors, current.row(), {}};
}

/// What the selected tensor or function can be, and which of it is wished.
void LayoutsPanel::offerWish()
{
    const QSignalBlocker blocker(m_wish);
    m_wish->clear();
    const auto wanted = selected();
    m_wish->setEnabled(wanted.has_value());
    if (!wanted) {
        m_wish->addItem(tr("select a row first"));
        return;
    }
    const session::LayoutsView& view = m_layouts->view();
    const auto row = static_cast<std::size_t>(wanted->index);
    m_wish->addItem(tr("as chosen"), QString());
    for (const std::string& layout : wanted->isTensor ? view.tensors[row].choices : view.functions[row].choices)
        m_wish->addItem(QString::fromStdString(layout), QString::fromStdString(layout));
    for (const session::LayoutWish& each : m_wishes)
        if (each.isTensor == wanted->isTensor && each.index == wanted->index)
            m_wish->setCurrentIndex(std::max(0, m_wish->findData(QString::fromStdString(each.layout))));
}

/// The function, or who reads the tensor, is shown in the network.
void LayoutsPanel::pick()
{
    const auto wanted = selected();
    if (!wanted)
        return;
    const session::LayoutsView& view = m_layouts->view();
    std::int32_t function = wanted->index;
    if (wanted->isTensor) {
        const session::LayoutTensor& tensor = view.tensors[static_cast<std::size_t>(wanted->index)];
        function = tensor.to >= 0 ? tensor.to : tensor.from;
    }
    if (function >= 0)
        emit subgraphPicked(view.functions[static_cast<std::size_t>(function)].subgraph);
}

} // namespace lathe::ui
