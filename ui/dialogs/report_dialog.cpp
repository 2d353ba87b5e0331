#include "ui/dialogs/report_dialog.h"

#include "core/session/report/report.h"
#include "ui/models/command_line.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

ReportDialog::ReportDialog(const QString& project, const QString& suggestedFile, QWidget* parent)
    : QDialog(parent)
    , m_project(project)
{
    setObjectName(QStringLiteral("reportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        made->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        return made;
    };
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        made->setAutoDefault(false);
        return made;
    };
    m_about = label("reportAbout");
    m_file = new QLineEdit(suggestedFile, this);
    m_file->setObjectName(QStringLiteral("reportFile"));
    m_label = new QLabel(this);
    m_label->setBuddy(m_file);
    m_command = label("reportCommand");
    m_result = label("reportResult");
    m_browse = button("reportBrowse");
    m_copy = button("reportCopyCommand");
    m_write = button("reportWrite");
    m_open = button("reportOpen");
    m_close = button("reportClose");
    m_write->setDefault(true);
    auto* file = new QHBoxLayout;
    file->addWidget(m_label);
    file->addWidget(m_file, 1);
    file->addWidget(m_browse);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_copy);
    buttons->addStretch(1);
    buttons->addWidget(m_write);
    buttons->addWidget(m_open);
    buttons->addWidget(m_close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_about);
    layout->addLayout(file);
    layout->addWidget(m_command);
    layout->addWidget(m_result);
    layout->addStretch(1);
    layout->addLayout(buttons);
    connect(m_browse, &QPushButton::clicked, this, [this] {
        const QString name = QFileDialog::getSaveFileName(this, tr("Report"), m_file->text(), tr("Web pages (*.html)"));
        if (!name.isEmpty())
            m_file->setText(name);
    });
    connect(m_file, &QLineEdit::textChanged, this, [this] {
        m_written = false;
        updateButtons();
    });
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_command->text()); });
    connect(m_write, &QPushButton::clicked, this, &ReportDialog::write);
    connect(m_open, &QPushButton::clicked, this, [this] {
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(m_file->text())))
            m_result->setText(tr("No web browser was found. The report is %1").arg(m_file->text()));
    });
    connect(m_close, &QPushButton::clicked, this, &QDialog::close);
    retranslated(this, [this] { retranslate(); });
    resize(640,
           std::max(sizeHint().height(), layout->totalHeightForWidth(640))); // the texts are in: they break into lines
}

void ReportDialog::retranslate()
{
    setWindowTitle(tr("Report"));
    m_about->setText(
        tr("One self-contained web page: figures, curves, tasks with their records, failures, device and settings."));
    m_label->setText(tr("&File:"));
    m_file->setAccessibleName(tr("File of the report"));
    m_browse->setText(tr("C&hoose…"));
    m_copy->setText(tr("&Copy command line"));
    m_write->setText(tr("&Write"));
    m_open->setText(tr("&Open"));
    m_close->setText(tr("C&lose"));
    updateButtons();
}

void ReportDialog::updateButtons()
{
    m_command->setText(reportCommand(m_project, m_file->text()));
    m_write->setEnabled(!m_writing.isRunning() && !m_file->text().isEmpty());
    m_open->setEnabled(m_written);
}

void ReportDialog::write()
{
    const QString file = m_file->text();
    m_writing = m_jobs.run([project = m_project.toStdString(),
                            name = file.toStdString()](const JobLink&) { return session::writeReport(project, name); },
                           [this, file](const Result<>& result) {
                               m_written = result.has_value() && m_file->text() == file;
                               m_result->setText(result ? tr("Written: %1").arg(file)
                                                        : tr("Not written: %1").arg(errorText(result.error())));
                               updateButtons();
                               if (m_written)
                                   m_open->setFocus();
                           });
    updateButtons();
    m_result->setText(tr("Writing…"));
}

} // namespace lathe::ui
