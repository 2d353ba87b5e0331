#include "ui/pages/farm_panel.h"

#include "ui/bridge/farm_link.h"
#include "ui/commands/window_actions.h"
#include "ui/models/core_text.h"
#include "ui/models/farm_device_model.h"
#include "ui/models/farm_key_model.h"
#include "ui/models/farm_queue_model.h"
#include "ui/models/farm_texts.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/pages/farm_detail.h"
#include "ui/views/elided_label.h"
#include "ui/views/empty_state.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {

QPushButton* makeButton(const char* name, QWidget* parent)
{
    auto* made = new QPushButton(parent);
    made->setObjectName(QLatin1String(name));
    return made;
}

QLabel* makeLine(const char* name, QWidget* parent)
{
    auto* made = new ElidedLabel(parent);
    made->setObjectName(QLatin1String(name));
    made->setTextFormat(Qt::PlainText); // other machines have a say in it
    made->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    return made;
}

/// Of equals, the order is that of key and name, however they came.
class DeviceOrder final : public QSortFilterProxyModel
{
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override
    {
        if (QSortFilterProxyModel::lessThan(left, right))
            return true;
        return !QSortFilterProxyModel::lessThan(right, left)
               && (sortOrder() == Qt::AscendingOrder ? left.row() < right.row() : left.row() > right.row());
    }
};

} // namespace

FarmPanel::FarmPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_farm(workspace.farm())
{
    setObjectName(QStringLiteral("farmPanel"));
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setObjectName(QStringLiteral("farmSplitter"));
    splitter->addWidget(makeDevices());
    m_detail = new FarmDetail(splitter);
    m_queueTab = makeQueue();
    m_detail->addTab(m_queueTab, {});
    splitter->addWidget(m_detail);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({600, 400}); // whatever they would like best
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kSmall, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kSmall);
    layout->addWidget(makeBar());
    layout->addWidget(splitter, 1);
    setFocusProxy(m_table);

    connect(&m_farm, &FarmLink::changed, this, &FarmPanel::showFarm);
    connect(&m_farm, &FarmLink::stateChanged, this, &FarmPanel::showPlace);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &FarmPanel::showCurrent);
    connect(m_connect, &QPushButton::clicked, this, &FarmPanel::connectOrLeave);
    connect(m_broker, &QLineEdit::returnPressed, this, &FarmPanel::connectOrLeave);
    connect(m_token, &QLineEdit::returnPressed, this, &FarmPanel::connectOrLeave);
    connect(m_broker, &QLineEdit::textChanged, this, &FarmPanel::showPlace);
    connect(m_browse, &QPushButton::clicked, this, &FarmPanel::browseToken);
    connect(m_test, &QPushButton::clicked, this, &FarmPanel::selfTest);
    connect(m_drain, &QPushButton::clicked, this, &FarmPanel::drainOrResume);
    connect(m_leave, &QPushButton::clicked, this, &FarmPanel::askToTakeOut);
    connect(m_pick, &QPushButton::clicked, this, &FarmPanel::pick);
    connect(m_add, &QPushButton::clicked, this, &FarmPanel::addDevice);
    const FarmLink::Place place = m_farm.place().broker.isEmpty() ? FarmLink::stored() : m_farm.place();
    m_broker->setText(place.broker);
    m_token->setText(place.token);
    retranslated(this, [this] { retranslate(); });
}

/// One row, since the page is low: where the broker is while there is none, and then what can be done with the device
/// that is chosen.
QWidget* FarmPanel::makeBar()
{
    auto* bar = new QWidget(this);
    m_placeFields = new QWidget(bar);
    m_brokerLabel = new QLabel(m_placeFields);
    m_broker = new QLineEdit(m_placeFields);
    m_broker->setObjectName(QStringLiteral("farmBroker"));
    m_broker->setMinimumWidth(150);
    m_brokerLabel->setBuddy(m_broker);
    m_tokenLabel = new QLabel(m_placeFields);
    m_token = new QLineEdit(m_placeFields);
    m_token->setObjectName(QStringLiteral("farmToken"));
    m_token->setMinimumWidth(110);
    m_tokenLabel->setBuddy(m_token);
    m_browse = makeButton("farmBrowse", m_placeFields);
    m_connect = makeButton("farmConnect", bar);
    m_state = makeLine("farmState", bar);
    m_deviceButtons = new QWidget(bar);
    m_pick = makeButton("farmPick", m_deviceButtons);
    m_test = makeButton("farmTest", m_deviceButtons);
    m_drain = makeButton("farmDrain", m_deviceButtons);
    m_leave = makeButton("farmLeave", m_deviceButtons);
    m_said = makeLine("farmSaid", bar);
    m_add = makeButton("farmAdd", bar);
    const auto rowOf = [](QWidget* parent, int margin) {
        auto* made = new QHBoxLayout(parent);
        made->setContentsMargins(margin, spacing::kNone, margin, spacing::kNone);
        made->setSpacing(spacing::kSmall);
        return made;
    };
    auto* fields = rowOf(m_placeFields, spacing::kNone);
    fields->addWidget(m_brokerLabel);
    fields->addWidget(m_broker, 3);
    fields->addSpacing(spacing::kSmall);
    fields->addWidget(m_tokenLabel);
    fields->addWidget(m_token, 2);
    fields->addWidget(m_browse);
    auto* buttons = rowOf(m_deviceButtons, spacing::kNone);
    for (QPushButton* button : {m_pick, m_test, m_drain, m_leave})
        buttons->addWidget(button);
    auto* row = rowOf(bar, spacing::kSmall);
    row->addWidget(m_placeFields, 4);
    row->addWidget(m_deviceButtons);
    row->addWidget(m_said, 4);
    row->addWidget(m_state, 4);
    row->addWidget(m_connect);
    row->addWidget(m_add);
    return bar;
}

QWidget* FarmPanel::makeDevices()
{
    m_devices = new FarmDeviceModel(this);
    m_sorted = new DeviceOrder(this);
    m_sorted->setSourceModel(m_devices);
    m_sorted->setSortRole(FarmDeviceModel::SortRole);
    m_table = new TableView("farmTable", this);
    m_table->setModel(m_sorted);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(FarmDeviceModel::KeyColumn, Qt::AscendingOrder); // and by name, as they come
    const int widths[] = {105, 95, 75, 190, 50, 60, 60, 140, 100, 160};
    for (int column = 0; column < FarmDeviceModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    m_empty = new EmptyState(m_table, [this] {
        const bool connected = m_farm.state() == FarmLink::State::Connected;
        return EmptyState::Text{emptyText(), connected ? QStringLiteral("farm.addDevice")
                                             : m_farm.state() == FarmLink::State::None ? QStringLiteral("farm.connect")
                                                                                       : QString()};
    });
    return m_table;
}

QWidget* FarmPanel::makeQueue()
{
    auto* both = new QSplitter(Qt::Horizontal);
    both->setObjectName(QStringLiteral("farmQueueSplitter"));
    m_keyModel = new FarmKeyModel(this);
    m_keys = new TableView("farmKeys", both);
    m_keys->setModel(m_keyModel);
    const int keyWidths[] = {60, 52, 40, 52};
    for (int column = 0; column < FarmKeyModel::ColumnCount; ++column)
        m_keys->setColumnWidth(column, keyWidths[column]);
    m_keys->restoreColumns();
    m_queueModel = new FarmQueueModel(this);
    m_queue = new TableView("farmQueue", both);
    m_queue->setModel(m_queueModel);
    const int widths[] = {40, 55, 110, 60, 50, 140};
    for (int column = 0; column < FarmQueueModel::ColumnCount; ++column)
        m_queue->setColumnWidth(column, widths[column]);
    m_queue->restoreColumns();
    m_queueEmpty = new EmptyState(m_queue, [] { return EmptyState::Text{tr("Nobody waits for a device."), {}}; });
    both->addWidget(m_keys);
    both->addWidget(m_queue);
    both->setStretchFactor(0, 2);
    both->setStretchFactor(1, 3);
    both->setSizes({220, 300});
    return both;
}

void FarmPanel::contribute(WindowActions& actions)
{
    m_connectAction = actions.add("farm.connect", QT_TRANSLATE_NOOP("Actions", "Connect to a &farm"), {}, {},
                                  [this] { wantConnection(); });
    m_addAction = actions.add("farm.addDevice", QT_TRANSLATE_NOOP("Actions", "&Add a device to the farm…"), {}, {},
                              [this] { addDevice(); });
    showPlace();
}

void FarmPanel::retranslate()
{
    m_brokerLabel->setText(tr("&Broker:"));
    m_broker->setAccessibleName(tr("Broker"));
    m_broker->setPlaceholderText(tr("HOST:PORT"));
    m_broker->setToolTip(tr("Where the farm's broker is: HOST:PORT, or tls://HOST:PORT"));
    m_tokenLabel->setText(tr("&Token:"));
    m_token->setAccessibleName(tr("Token file"));
    m_token->setPlaceholderText(tr("none"));
    m_token->setToolTip(tr("The file that lets you in, if the broker does not let everybody in"));
    m_browse->setText(tr("C&hoose…"));
    m_browse->setToolTip(tr("Choose the token file"));
    m_add->setText(tr("&Add a device…"));
    m_add->setToolTip(tr("What to run on another machine so that its devices join the farm"));
    m_table->setAccessibleName(tr("Devices of the farm"));
    m_queue->setAccessibleName(tr("Programs that wait for devices"));
    m_keys->setAccessibleName(tr("Keys of the farm"));
    m_detail->setTabText(m_detail->indexOf(m_queueTab), tr("Queue"));
    m_pick->setText(tr("&Use for runs"));
    m_pick->setToolTip(tr("The next run measures on the devices of this key that are to be had"));
    m_leave->setText(tr("Take &out…"));
    m_leave->setToolTip(tr("Ends the runner of this device, once a run that has it is done with it"));
    m_devices->retranslate();
    m_queueModel->retranslate();
    m_keyModel->retranslate();
    showPlace();
    showFarm();
}

void FarmPanel::connectOrLeave()
{
    if (m_farm.state() != FarmLink::State::None) {
        m_orders.dropAll(); // self-tests end; other orders are on their way
        m_told.clear();
        m_farm.leave();
        return;
    }
    if (const QString broker = m_broker->text().trimmed(); !broker.isEmpty())
        m_farm.connectTo({broker, m_token->text().trimmed()});
}

void FarmPanel::wantConnection()
{
    emit frontRequested();
    if (m_farm.state() == FarmLink::State::None && m_broker->text().trimmed().isEmpty())
        m_broker->setFocus(Qt::OtherFocusReason);
    else if (m_farm.state() == FarmLink::State::None)
        connectOrLeave();
}

void FarmPanel::browseToken()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Token for the broker"),
                                                      QFileInfo(m_token->text()).path());
    if (!file.isEmpty())
        m_token->setText(file);
}

/// What is connected cannot be edited under way; where it does not come about, what was typed is seen.
void FarmPanel::showPlace()
{
    const FarmLink::State state = m_farm.state();
    const bool none = state == FarmLink::State::None;
    const bool heard = state == FarmLink::State::Connected || state == FarmLink::State::Away;
    if (!none && m_broker->text() != m_farm.place().broker) { // connected from elsewhere
        m_broker->setText(m_farm.place().broker);
        m_token->setText(m_farm.place().token);
    }
    for (QWidget* widget :
         {static_cast<QWidget*>(m_broker), static_cast<QWidget*>(m_token), static_cast<QWidget*>(m_browse)})
        widget->setEnabled(none);
    m_placeFields->setVisible(!heard);
    m_deviceButtons->setVisible(heard);
    m_connect->setText(none ? tr("&Connect") : tr("Dis&connect"));
    m_connect->setEnabled(!none || !m_broker->text().trimmed().isEmpty());
    m_add->setEnabled(state == FarmLink::State::Connected);
    if (m_connectAction != nullptr)
        m_connectAction->setEnabled(none);
    if (m_addAction != nullptr)
        m_addAction->setEnabled(state == FarmLink::State::Connected);
}

QString FarmPanel::stateText() const
{
    switch (m_farm.state()) {
    case FarmLink::State::None: return {};
    case FarmLink::State::Connecting: return tr("Connecting…");
    case FarmLink::State::Connected:
        return m_farm.user().isEmpty() ? tr("Connected to %1, to look only").arg(m_farm.place().broker)
                                       : tr("Connected to %1 as %2").arg(m_farm.place().broker, m_farm.user());
    case FarmLink::State::Away:
        return tr("The broker does not answer. Shown is what was heard last, at %1.")
            .arg(m_farm.heardAt().toString(QStringLiteral("HH:mm:ss")));
    case FarmLink::State::Failed: return m_farm.failure() ? errorText(*m_farm.failure()) : QString();
    }
    return {};
}

QString FarmPanel::emptyText() const
{
    const QString broker = m_farm.place().broker;
    switch (m_farm.state()) {
    case FarmLink::State::None:
        return tr("A farm is devices of other machines, which several people's runs share by way of a broker. Name the "
                  "broker above.");
    case FarmLink::State::Connecting: return tr("Connecting to %1…").arg(broker);
    case FarmLink::State::Connected:
        return m_farm.isSettled()
                   ? tr("No device offers itself. On a machine that has one, run: lathe-runner --broker %1 --key KEY")
                         .arg(broker)
                   : tr("Listening for devices…");
    case FarmLink::State::Away: return tr("The broker at %1 does not answer.").arg(broker);
    case FarmLink::State::Failed:
        return m_farm.failure() && m_farm.failure()->code == Errc::NotFound
                   ? tr("%1\nIt is tried again every few seconds.").arg(stateText())
                   : stateText();
    }
    return {};
}

void FarmPanel::showFarm()
{
    const FarmLink::State state = m_farm.state();
    m_devices->setFarm(m_farm.view(), m_farm.user(), state == FarmLink::State::Connected);
    m_queueModel->setFarm(m_farm.view(), m_farm.user());
    m_keyModel->setFarm(m_farm.view());
    m_empty->refresh();
    m_state->setText(stateText());
    m_state->setToolTip(plainTip(stateText()));
    int first = 0;
    for (int row = m_queueModel->rowCount() - 1; row >= 0; --row)
        if (m_queueModel->isOurs(row))
            first = m_queueModel->index(row, FarmQueueModel::PlaceColumn).data().toInt();
    const int waiting = m_queueModel->rowCount();
    m_detail->setTabText(m_detail->indexOf(m_queueTab), first > 0     ? tr("Queue (you: place %1)").arg(first)
                                                        : waiting > 0 ? tr("Queue (%1)").arg(waiting)
                                                                      : tr("Queue"));
    showCurrent();
}

std::optional<session::FarmDeviceView> FarmPanel::current() const
{
    const QModelIndex index = m_sorted->mapToSource(m_table->currentIndex());
    return index.isValid() ? std::optional(m_devices->device(index.row())) : std::nullopt;
}

void FarmPanel::showCurrent()
{
    using session::FarmDeviceState;
    const auto device = current();
    m_detail->setDevice(device ? &*device : nullptr, &m_farm.history());
    const auto told = device ? m_told.find({device->key, device->name}) : m_told.end();
    const bool tests = told != m_told.end() && told->second.test.isRunning();
    const bool there = device && m_farm.state() == FarmLink::State::Connected && device->state != FarmDeviceState::Lost;
    const bool drained = device
                         && (device->state == FarmDeviceState::Drained || device->state == FarmDeviceState::Draining);
    const bool mayAsk = there && !m_farm.user().isEmpty();
    m_test->setEnabled(tests || (mayAsk && !drained && device->state != FarmDeviceState::Sick));
    m_test->setText(tests ? tr("&Stop self-test") : tr("&Self-test"));
    m_test->setToolTip(tr("Build a small kernel, run it there once the device is free, and check its result"));
    m_drain->setEnabled(mayAsk);
    m_drain->setText(drained ? tr("&Resume") : tr("&Drain"));
    m_drain->setToolTip(drained ? tr("Runs get this device again")
                                : tr("No further run gets this device; a run that has it finishes what is in hand"));
    m_leave->setEnabled(mayAsk);
    m_pick->setEnabled(mayAsk);
    m_said->setText(told == m_told.end() ? QString() : told->second.text);
    m_said->setToolTip(plainTip(m_said->text()));
    m_said->setVisible(!m_said->text().isEmpty());
}

} // namespace lathe::ui
