#include "ui/dialogs/about_dialog.h"

#include "core/session/devices.h"
#include "ui/models/language.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSysInfo>
#include <QVBoxLayout>

namespace lathe::ui {

QString AboutDialog::versions()
{
    const auto compiler =
#if defined(__clang__)
        QStringLiteral("Clang %1").arg(QLatin1String(__clang_version__));
#else
        QStringLiteral("GCC %1").arg(QLatin1String(__VERSION__));
#endif
    return QStringLiteral("Lathe %1\nQt %2 (built with %3), platform %4\n%5\n%6, kernel %7\n%8, %9 threads")
        .arg(QCoreApplication::applicationVersion(), QLatin1String(qVersion()), QStringLiteral(QT_VERSION_STR),
             QGuiApplication::platformName(), compiler, QSysInfo::prettyProductName(), QSysInfo::kernelVersion(),
             QSysInfo::currentCpuArchitecture())
        .arg(session::threadsHere());
}

AboutDialog::AboutDialog(QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("aboutDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* title = new QLabel(this);
    title->setWordWrap(true);
    auto* text = new QPlainTextEdit(versions(), this);
    text->setObjectName(QStringLiteral("aboutVersions"));
    text->setReadOnly(true);
    text->setTabChangesFocus(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* copy = buttons->addButton(QString(), QDialogButtonBox::ActionRole);
    copy->setObjectName(QStringLiteral("aboutCopy"));
    connect(copy, &QPushButton::clicked, this, [] { QApplication::clipboard()->setText(versions()); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(title);
    layout->addWidget(text);
    layout->addWidget(buttons);
    resize(460, 280);
    retranslated(this, [this, title, text, copy] {
        setWindowTitle(tr("About Lathe"));
        title->setText(
            tr("<b>Lathe</b><p>Tunes neural networks for the device they will run on.</p><p>Licence: Apache-2.0</p>"));
        text->setAccessibleName(tr("Versions"));
        copy->setText(tr("&Copy"));
    });
}

} // namespace lathe::ui
