#include "ui/pages/log_page.h"

#include "ui/models/language.h"
#include "ui/models/workspace.h"

#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {
constexpr int kMostLines = 3000; ///< the text's layout holds a kilobyte for each
}

LogPage::LogPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
{
    auto* text = new QPlainTextEdit(this);
    text->setObjectName(QStringLiteral("log"));
    text->setReadOnly(true);
    text->setTabChangesFocus(true);
    text->setMaximumBlockCount(kMostLines);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    retranslated(text, [text] { text->setAccessibleName(tr("Log")); });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text);
    setFocusProxy(text);
    connect(&workspace, &Workspace::logged, text, &QPlainTextEdit::appendPlainText);
}

} // namespace lathe::ui
