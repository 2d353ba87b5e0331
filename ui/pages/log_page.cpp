#include "ui/pages/log_page.h"

#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"

#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QToolButton>
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
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kNone);
    layout->addWidget(text);
    setFocusProxy(text);
    connect(&workspace, &Workspace::logged, text, &QPlainTextEdit::appendPlainText);
    // Who scrolls up wants to read; at the end again, or by the button, it follows what comes. A change of its size
    // is no such wish.
    auto* follow = new QToolButton(this);
    follow->setObjectName(QStringLiteral("logFollow"));
    follow->hide();
    layout->addWidget(follow, 0, Qt::AlignRight);
    QScrollBar* const bar = text->verticalScrollBar();
    connect(bar, &QScrollBar::actionTriggered, this, [this, bar, follow] {
        m_follows = bar->sliderPosition() >= bar->maximum();
        follow->setVisible(!m_follows);
    });
    connect(bar, &QScrollBar::valueChanged, this, [this, bar, follow](int value) {
        if (value < bar->maximum())
            return; // keys and the wheel come as actions, too
        m_follows = true;
        follow->hide();
    });
    connect(bar, &QScrollBar::rangeChanged, this, [this, bar](int, int last) {
        if (m_follows)
            bar->setValue(last);
    });
    connect(follow, &QToolButton::clicked, bar, [bar] { bar->setValue(bar->maximum()); });
    retranslated(text, [text, follow] {
        text->setAccessibleName(tr("Log"));
        follow->setText(tr("&Follow"));
        follow->setToolTip(tr("Go to the end and follow new lines (Ctrl+End)"));
    });
}

} // namespace lathe::ui
