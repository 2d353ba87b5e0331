#include "ui/pages/devices_page.h"

#include "ui/bridge/device_list.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/hardware_model.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/farm_panel.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include <cmath>

namespace lathe::ui {

namespace {
constexpr int kHereTab = 0, kFarmTab = 1;
const QString kTab = QStringLiteral("devicesTab");
} // namespace

DevicesPage::DevicesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("devicesPage"));
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("devicesTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(makeHere(), {});
    m_farm = new FarmPanel(m_workspace, m_tabs);
    m_tabs->addTab(m_farm, {});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->addWidget(m_tabs);
    m_tabs->setCurrentIndex(QSettings().value(kTab).toInt() == kFarmTab ? kFarmTab : kHereTab);
    const auto handFocus = [this] {
        setFocusProxy(m_tabs->currentIndex() == kHereTab ? static_cast<QWidget*>(m_list) : m_farm);
    };
    handFocus();
    connect(m_tabs, &QTabWidget::currentChanged, this, [handFocus](int tab) {
        QSettings().setValue(kTab, tab);
        handFocus();
    });
    connect(m_farm, &FarmPanel::frontRequested, this, [this] {
        m_tabs->setCurrentIndex(kFarmTab);
        emit frontRequested();
    });
    retranslated(this, [this] {
        m_tabs->setTabText(kHereTab, tr("This machine"));
        m_tabs->setTabText(kFarmTab, tr("Farm"));
        m_list->setAccessibleName(tr("Devices"));
        m_table->setAccessibleName(tr("Hardware parameters"));
        m_refresh->setText(tr("&Look again"));
        m_refresh->setToolTip(tr("Ask all back ends for devices"));
        m_test->setText(tr("Self-&test"));
        m_test->setToolTip(tr("Build a small kernel, run it and check its result"));
        m_reset->setText(tr("Reset to &detected"));
        m_reset->setToolTip(tr("Discard the edited value of the selected parameter"));
        m_model->retranslate();
        fill();
    });
}

void DevicesPage::contribute(WindowActions& actions)
{
    m_farm->contribute(actions);
}

QWidget* DevicesPage::makeHere()
{
    m_list = new QListWidget(this);
    m_list->setObjectName(QStringLiteral("deviceList"));
    m_list->setAlternatingRowColors(true);
    m_refresh = new QPushButton(this);
    m_refresh->setObjectName(QStringLiteral("deviceRefresh"));
    m_test = new QPushButton(this);
    m_test->setObjectName(QStringLiteral("deviceTest"));
    m_reset = new QPushButton(this);
    m_reset->setObjectName(QStringLiteral("deviceReset"));
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("deviceState"));
    m_state->setWordWrap(true);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("deviceProblem"));
    m_problem->setWordWrap(true);
    m_problem->hide();
    m_model = new HardwareModel(this);
    m_table = new TableView("hardwareTable", this);
    m_table->setModel(m_model);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed
                             | QAbstractItemView::AnyKeyPressed);
    const int widths[] = {190, 110, 70, 150, 260};
    for (int column = 0; column < HardwareModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    auto* left = new QWidget(this);
    auto* leftColumn = new QVBoxLayout(left);
    leftColumn->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    leftColumn->addWidget(m_list, 1);
    leftColumn->addWidget(m_refresh);
    auto* right = new QWidget(this);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_test);
    buttons->addWidget(m_reset);
    buttons->addStretch();
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(spacing::kSmall, spacing::kNone, spacing::kNone, spacing::kNone);
    column->addWidget(m_state);
    column->addWidget(m_table, 1);
    column->addWidget(m_problem);
    column->addLayout(buttons);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->addWidget(left);
    splitter->addWidget(right);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 5);
    connect(m_list, &QListWidget::currentRowChanged, this, &DevicesPage::showCurrent);
    connect(m_refresh, &QPushButton::clicked, &m_workspace.devices(), &DeviceList::refresh);
    connect(&m_workspace.devices(), &DeviceList::changed, this, &DevicesPage::fill);
    connect(m_test, &QPushButton::clicked, this, &DevicesPage::test);
    connect(m_reset, &QPushButton::clicked, this, &DevicesPage::reset);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &DevicesPage::updateButtons);
    connect(m_model, &HardwareModel::refused, this, [this](const QString& text) {
        m_problem->setText(text);
        m_problem->show();
    });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &DevicesPage::fill);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, &DevicesPage::fill);
    connect(&m_workspace, &Workspace::writerChanged, this, &DevicesPage::showCurrent);
    return splitter;
}

void DevicesPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_workspace.devices().ensureAsked();
}

void DevicesPage::fill()
{
    const int row = std::max(0, m_list->currentRow());
    m_refresh->setEnabled(!m_workspace.devices().isAsking());
    {
        const QSignalBlocker blocker(m_list);
        m_list->clear();
        if (const session::TuningSession* session = m_workspace.session())
            m_list->addItem(tr("Open network: %1").arg(targetTitle(session->options().target)));
        for (const session::DeviceView& device : m_workspace.devices().directory().all()) {
            const bool ready = device.ready();
            const QString name = deviceTitle(device.name.empty() ? device.kind : device.name);
            auto* item = new QListWidgetItem(
                QStringLiteral("%1  ·  %2")
                    .arg(name.isEmpty() ? tr("Devices of this machine") : name, ready ? tr("ready") : tr("not usable")),
                m_list);
            item->setToolTip(device.about ? coreText(*device.about) : QString::fromStdString(device.state));
            if (!ready)
                item->setForeground(palette().brush(QPalette::PlaceholderText));
        }
        if (m_list->count() > 0)
            m_list->setCurrentRow(std::min(row, m_list->count() - 1));
    }
    showCurrent();
}

const session::DeviceView* DevicesPage::current() const
{
    const int row = m_list->currentRow() - (m_workspace.session() != nullptr ? 1 : 0);
    const auto devices = m_workspace.devices().directory().all();
    return row >= 0 && static_cast<std::size_t>(row) < devices.size() ? &devices[static_cast<std::size_t>(row)]
                                                                      : nullptr;
}

std::pair<QString, QString> DevicesPage::testSubject() const
{
    if (const session::DeviceView* device = current())
        return device->ready() ? std::pair(QString::fromStdString(device->kind), QString::fromStdString(device->key))
                               : std::pair<QString, QString>();
    if (m_workspace.session() == nullptr)
        return {};
    return {QString::fromStdString(m_workspace.session()->options().target), QString()};
}

void DevicesPage::showCurrent()
{
    m_problem->hide();
    const session::DeviceView* device = current();
    session::TuningSession* session = m_workspace.session();
    QString state;
    if (device != nullptr) {
        m_model->setEditor({});
        m_model->setLimits(device->hardware);
        state = device->ready() ? tr("%1 is ready for measurements. Its back end reports these parameters.")
                                      .arg(deviceTitle(device->name))
                                : tr("Not usable: %1").arg(coreText(device->reason(), device->about));
    } else if (session != nullptr && m_list->currentRow() == 0) {
        const QString readOnly = m_workspace.whyReadOnly();
        if (m_workspace.replay() != nullptr || !readOnly.isEmpty())
            m_model->setEditor({});
        else
            m_model->setEditor([this](const std::string& name, std::int64_t value) {
                session::TuningSession* const open = m_workspace.session();
                session::ProjectPart* const project = open == nullptr ? nullptr : open->project();
                if (project == nullptr)
                    return QString();
                if (const auto set = project->setHardware(name, value); !set)
                    return errorText(set.error());
                QMetaObject::invokeMethod(this, &DevicesPage::showCurrent,
                                          Qt::QueuedConnection); // once the editor has closed
                return QString();
            });
        m_model->setLimits(session->hardware());
        state = m_workspace.replay() != nullptr ? tr("Parameters of the replayed run.")
                : !readOnly.isEmpty()           ? readOnly
                                                : tr("Parameters for the search. Double-click a value to change it for "
                                                               "later runs; it is stored with the project.");
    } else {
        m_model->setEditor({});
        m_model->setLimits({});
        state = m_workspace.devices().isAsking() ? tr("Looking for devices…") : tr("No device found.");
    }
    const auto tested = m_tests.find(testSubject());
    if (tested != m_tests.end()) {
        const Tested& test = tested->second;
        QString text;
        if (test.running)
            text = tr("Self-test running…");
        else if (!test.failure.isEmpty())
            text = tr("Self-test failed: %1").arg(test.failure);
        else {
            text = tr("Self-test passed: a kernel was built, ran in %1 and computed the right result")
                       .arg(msText(test.result.runMs));
            if (std::isfinite(test.result.maxRelError))
                text += tr(" (relative error %1)").arg(QString::number(test.result.maxRelError, 'g', 2));
            text += tr(".");
        }
        state += QLatin1Char('\n') + text;
    }
    m_state->setText(state);
    updateButtons();
}

void DevicesPage::updateButtons()
{
    const auto subject = testSubject();
    const auto tested = m_tests.find(subject);
    m_test->setEnabled(!subject.first.isEmpty() && (tested == m_tests.end() || !tested->second.running));
    const QModelIndex index = m_table->currentIndex();
    m_reset->setEnabled(
        current() == nullptr && index.isValid()
        && (m_model->flags(index.siblingAtColumn(HardwareModel::ValueColumn)) & Qt::ItemIsEditable)
        && (m_model->limit(index.row()).origin == "edited" || m_model->limit(index.row()).origin.starts_with("file ")));
}

void DevicesPage::test()
{
    const auto subject = testSubject();
    if (subject.first.isEmpty())
        return;
    Tested& test = m_tests[subject];
    test = {};
    test.running = true;
    showCurrent();
    m_jobs.run(
        [subject](const JobLink&) {
            return session::selfTestDevice(subject.first.toStdString(), subject.second.toStdString());
        },
        [this, subject](const Result<session::SelfTest>& result) {
            Tested& ended = m_tests[subject];
            ended = {};
            if (result)
                ended.result = *result;
            else
                ended.failure = errorText(result.error());
            showCurrent();
        });
}

void DevicesPage::reset()
{
    const QModelIndex index = m_table->currentIndex();
    session::TuningSession* session = m_workspace.session();
    session::ProjectPart* const project = session == nullptr ? nullptr : session->project();
    if (project == nullptr || !index.isValid())
        return;
    const int row = index.row();
    if (const auto set = project->setHardware(m_model->limit(row).name, std::nullopt); !set) {
        m_problem->setText(errorText(set.error()));
        m_problem->show();
        return;
    }
    showCurrent();
    m_table->setCurrentIndex(m_model->index(row, HardwareModel::ValueColumn));
}

} // namespace lathe::ui
