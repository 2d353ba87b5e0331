#include "ui/dialogs/add_device_dialog.h"

#include "core/session/farm_orders.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/views/spacing.h"

#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QStandardPaths>
#include <QUrl>
#include <QVBoxLayout>

#include <initializer_list>

namespace lathe::ui {

namespace {

/// Where fresh tokens lie until somebody carries them to their machines.
QString tokenFolder()
{
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation))
        .filePath(QStringLiteral("tokens"));
}

} // namespace

AddDeviceDialog::AddDeviceDialog(session::BrokerWords broker, const QStringList& keys, QWidget* parent)
    : QDialog(parent)
    , m_broker(std::move(broker))
{
    setObjectName(QStringLiteral("addDeviceDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    const auto label = [this] {
        auto* made = new QLabel(this);
        made->setWordWrap(true);
        made->setTextFormat(Qt::PlainText);
        return made;
    };
    const auto field = [this](const char* name) {
        auto* made = new QLineEdit(this);
        made->setObjectName(QLatin1String(name));
        made->setReadOnly(true);
        made->setMinimumWidth(360);
        return made;
    };
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        made->setAutoDefault(false);
        return made;
    };
    m_about = label();
    m_key = new QComboBox(this);
    m_key->setObjectName(QStringLiteral("addDeviceKey"));
    m_key->setEditable(true);
    m_key->setInsertPolicy(QComboBox::NoInsert);
    m_key->addItems(keys);
    m_key->lineEdit()->setValidator(new QRegularExpressionValidator(
        QRegularExpression(QStringLiteral("[A-Za-z0-9_-]{1,64}")), this)); // a word, as brokers have them
    m_keyLabel = new QLabel(this);
    m_keyLabel->setBuddy(m_key);
    m_make = button("addDeviceMake");
    m_make->setDefault(true);
    m_lineLabel = label();
    m_line = field("addDeviceLine");
    m_copyLine = button("addDeviceCopy");
    m_tokenLabel = label();
    m_token = field("addDeviceToken");
    m_copyToken = button("addDeviceCopyToken");
    m_folder = button("addDeviceFolder");
    m_says = label();
    m_says->setObjectName(QStringLiteral("addDeviceSays"));
    auto* grid = new QGridLayout;
    grid->addWidget(m_keyLabel, 0, 0);
    grid->addWidget(m_key, 0, 1);
    grid->addWidget(m_make, 0, 2);
    grid->addWidget(m_lineLabel, 1, 0, 1, 4);
    grid->addWidget(m_line, 2, 0, 1, 2);
    grid->addWidget(m_copyLine, 2, 2);
    grid->addWidget(m_tokenLabel, 3, 0, 1, 4);
    grid->addWidget(m_token, 4, 0, 1, 2);
    grid->addWidget(m_copyToken, 4, 2);
    grid->addWidget(m_folder, 4, 3);
    grid->setColumnStretch(1, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_about);
    layout->addLayout(grid);
    layout->addWidget(m_says);
    layout->addStretch();
    layout->addWidget(buttons);
    connect(m_make, &QPushButton::clicked, this, &AddDeviceDialog::make);
    connect(m_key, &QComboBox::currentTextChanged, this, [this] {
        showResult(false, false);
        m_make->setEnabled(m_key->lineEdit()->hasAcceptableInput());
    });
    connect(m_copyLine, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_line->text()); });
    connect(m_copyToken, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_token->text()); });
    connect(m_folder, &QPushButton::clicked, this,
            [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_token->text()).path())); });
    m_make->setEnabled(m_key->lineEdit()->hasAcceptableInput());
    showResult(false, false);
    retranslated(this, [this] {
        setWindowTitle(tr("Add a device"));
        m_about->setText(tr("A machine's devices join the farm when lathe-runner runs there. Runs ask for devices by "
                            "their key: give the same key to devices that are equal."));
        m_keyLabel->setText(tr("&Key:"));
        m_key->setAccessibleName(tr("Key"));
        m_make->setText(tr("&Make the command"));
        m_make->setToolTip(tr("Also makes a token, if the broker wants one"));
        m_lineLabel->setText(tr("Run this on the machine that has the devices:"));
        m_line->setAccessibleName(tr("Command to run on the other machine"));
        m_copyLine->setText(tr("&Copy"));
        m_copyLine->setToolTip(tr("Copy the command"));
        m_tokenLabel->setText(tr("Copy this token file there first. It lets one runner in: give it to nobody else."));
        m_token->setAccessibleName(tr("Token file"));
        m_copyToken->setText(tr("Co&py"));
        m_copyToken->setToolTip(tr("Copy the path"));
        m_folder->setText(tr("&Open folder"));
    });
    resize(640, 240);
}

void AddDeviceDialog::make()
{
    const QString key = m_key->currentText();
    m_make->setEnabled(false);
    m_key->setEnabled(false); // the answer is about this one
    m_says->setText(tr("Working…"));
    m_jobs.run([broker = m_broker, key = key.toStdString(), folder = tokenFolder().toStdString()](
                   const JobLink&) { return session::newDevice(broker, key, folder); },
               [this](const Result<session::NewDevice>& device) {
                   m_make->setEnabled(true);
                   m_key->setEnabled(true);
                   m_says->setText(device ? QString() : errorText(device.error()));
                   if (device) {
                       m_line->setText(QString::fromStdString(device->line));
                       m_token->setText(QString::fromStdString(device->token));
                       m_line->setCursorPosition(0);
                       m_line->setFocus();
                   }
                   showResult(device.has_value(), device && !device->token.empty());
               });
}

void AddDeviceDialog::showResult(bool made, bool withToken)
{
    for (QWidget* widget : std::initializer_list<QWidget*>{m_lineLabel, m_line, m_copyLine})
        widget->setVisible(made);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_tokenLabel, m_token, m_copyToken, m_folder})
        widget->setVisible(withToken);
}

} // namespace lathe::ui
