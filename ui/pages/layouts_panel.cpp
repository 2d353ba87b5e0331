#include "ui/pages/layouts_panel.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/layout_function_model.h"
#include "ui/models/layout_tensor_model.h"
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

constexpr int kReplanMs = 5000; ///< while a run measures: planning reads the records of all tasks

} // namespace

LayoutsPanel::LayoutsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_pace([this] { ask(); }, kReplanMs)
{
    setObjectName(QStringLiteral("layoutsPanel"));
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
    layout->addWidget(m_summary);
    layout->addLayout(measures);
    layout->addWidget(m_details, 1);
    layout->addStretch();
}

void LayoutsPanel::connectWidgets()
{
    connect(m_measure, &QPushButton::clicked, this, [this] { read(true); });
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
        ask();
    });
    connect(&bridge, &SessionBridge::closed, this, &LayoutsPanel::forget);
    connect(&bridge, &SessionBridge::eventsArrived, this, [this](const std::vector<session::Event>& events) {
        for (const session::Event& event : events)
            if (std::holds_alternative<session::RoundDoneEvent>(event.what)
                || std::holds_alternative<session::FinalsEvent>(event.what)) {
                m_pace.ask();
                return;
            }
    });
    const TrialJobs& jobs = m_workspace.trialJobs();
    connect(&jobs, &TrialJobs::ended, this, &LayoutsPanel::ask);
}

void LayoutsPanel::retranslate()
{
    m_tabs->setTabText(0, tr("Tensors"));
    m_tabs->setTabText(1, tr("Functions"));
    m_tensors->setAccessibleName(tr("Layouts of the tensors"));
    m_functions->setAccessibleName(tr("Layouts and kernels of the functions"));
    m_wish->setAccessibleName(tr("Layout to try"));
    m_wish->setToolTip(tr("Shows what the network would take; exports choose for themselves"));
    m_wishLabel->setText(tr("&Try the layout:"));
    m_clear->setText(tr("&Forget all tried layouts"));
    m_measure->setText(tr("&Measure conversions"));
    m_measure->setToolTip(tr("Times on this machine the conversions that were never timed, and keeps that with the "
                             "project"));
    fill();
}

void LayoutsPanel::forget()
{
    m_jobs.dropAll();
    m_layouts.reset();
    m_wishes.clear();
    m_wished.reset();
    m_refusal.clear();
    m_message.clear();
    m_stale = true;
    fill();
}

void LayoutsPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale)
        read(false);
}

void LayoutsPanel::ask()
{
    m_stale = true;
    if (isVisible())
        read(false);
}

void LayoutsPanel::read(bool measures)
{
    const auto session = m_workspace.bridge().shared();
    if (!session || session->layouts() == nullptr) {
        m_message = session ? tr("A replay does not choose layouts: open the project itself.") : QString();
        fill();
        return;
    }
    m_stale = false;
    m_pace.called();
    m_reading.drop();
    m_message = measures ? tr("Measuring conversions…") : tr("Choosing layouts…");
    m_reading = m_jobs.run(
        [session, measures](const JobLink& link) {
            return session->layouts()->chooseLayouts(measures, link.stopToken());
        },
        [this](Result<std::shared_ptr<const session::NetworkLayouts>> read) { take(std::move(read)); });
    fill();
}

void LayoutsPanel::take(Result<std::shared_ptr<const session::NetworkLayouts>> read)
{
    m_message = !read    ? errorText(read.error())
                : !*read ? tr("No record of this project has a layout of its own: all tensors lie as the network has "
                              "them. Templates make records with layouts.")
                         : QString();
    if (read) // after a failure what was read before stays
        m_layouts = *std::move(read);
    wish();
}

/// Works out what the wishes change; without any, shows what was chosen.
void LayoutsPanel::wish()
{
    m_wishing.drop();
    m_wished.reset();
    m_refusal.clear();
    if (m_layouts && !m_wishes.empty())
        m_wishing = m_jobs.run(
            [layouts = m_layouts, wishes = m_wishes](const JobLink&) { return layouts->under(wishes); },
            [this](Result<session::WishedLayouts> wished) {
                if (wished)
                    m_wished = *std::move(wished);
                else
                    m_refusal = tr("These layouts do not go together: no kernels were measured "
                                   "for all of them.");
                fill();
            });
    fill();
}

QString LayoutsPanel::summaryText() const
{
    if (m_workspace.session() == nullptr)
        return tr("Open a network to see the layouts of its tensors.");
    if (!m_layouts)
        return m_message;
    const session::LayoutsView& view = m_layouts->view();
    const auto converted = std::count_if(view.tensors.begin(), view.tensors.end(),
                                         [](const auto& tensor) { return tensor.written != tensor.read; });
    QStringList parts{tr("%1 in all: kernels %2, conversions %3 (%4 of %5 tensors).")
                          .arg(msText(view.totalMs), msText(view.kernelsMs), msText(view.totalMs - view.kernelsMs))
                          .arg(converted)
                          .arg(view.tensors.size()),
                      tr("With the fastest kernel of each function: %1.").arg(msText(view.fastestMs))};
    if (!view.optimal)
        parts << tr("A faster choice may exist.");
    if (view.guessed > 0)
        parts << tr("The times of %Ln conversions are estimates.", nullptr, static_cast<int>(view.guessed));
    if (!m_message.isEmpty())
        parts << m_message;
    return parts.join(QLatin1Char(' '));
}

QString LayoutsPanel::changeText() const
{
    if (!m_refusal.isEmpty() || m_wishes.empty())
        return m_refusal;
    if (!m_wished)
        return tr("Working out what changes…");
    const QString change = LayoutFunctionModel::changeText(m_wished->differenceMs);
    QStringList functions;
    for (const std::int32_t function : m_wished->functions)
        functions << LayoutTensorModel::functionName(m_wished->view, function);
    const QString total =
        change.isEmpty()
            ? tr("The network takes as long as before.")
            : tr("The network takes %1, %2 against what was chosen.").arg(msText(m_wished->view.totalMs), change);
    return functions.isEmpty() ? total + QLatin1Char(' ') + tr("No function changes its kernel.")
                               : total + QLatin1Char(' ')
                                     + tr("Other kernels or layouts: %1.").arg(functions.join(QStringLiteral(", ")));
}

void LayoutsPanel::fill()
{
    const bool there = m_layouts != nullptr;
    static const session::LayoutsView kEmpty;
    const session::LayoutsView& view = there ? m_layouts->view() : kEmpty;
    m_tensorModel->setLayouts(view, m_wished);
    m_functionModel->setLayouts(view, m_wished);
    m_details->setVisible(there);
    m_summary->setText(summaryText());
    m_change->setText(changeText());
    m_change->setVisible(!m_change->text().isEmpty());
    m_clear->setVisible(!m_wishes.empty());
    m_measure->setVisible(there && view.guessed > 0);
    enableToWrite(*m_measure, !m_reading.isRunning(), m_workspace.whyReadOnly());
    offerWish();
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
