#include "ui/dialogs/command_palette.h"

#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/spacing.h"

#include <QAction>
#include <QCoreApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

QString plainText(const QAction* action)
{
    return withoutMnemonic(action->text());
}

/// One that copies the command line of what another one does: its name holds the name of that one.
bool isCopy(const QAction& action)
{
    return action.objectName().startsWith(QStringLiteral("copy."));
}

constexpr int kCopyRank = 4; ///< by which such a one comes later: less than the letter at a word's beginning counts

} // namespace

CommandPalette::CommandPalette(const std::vector<QAction*>& actions, QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("commandPalette"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_actions.assign(actions.begin(), actions.end());
    m_typed = new QLineEdit(this);
    m_typed->setObjectName(QStringLiteral("paletteInput"));
    m_typed->installEventFilter(this);
    m_list = new QListWidget(this);
    m_list->setObjectName(QStringLiteral("paletteList"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kMedium, spacing::kMedium, spacing::kMedium, spacing::kMedium);
    layout->addWidget(m_typed);
    layout->addWidget(m_list);
    connect(m_typed, &QLineEdit::textChanged, this, &CommandPalette::fill);
    connect(m_list, &QListWidget::itemActivated, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
    const QSize room = parent == nullptr ? QSize(640, 480) : parent->size();
    resize(std::min(560, room.width() - 40), std::min(420, room.height() - 60));
    if (parent != nullptr)
        move(parent->mapToGlobal(QPoint((room.width() - width()) / 2, 40)));
    retranslated(this, [this] {
        setWindowTitle(tr("Commands"));
        m_typed->setPlaceholderText(tr("Type a command"));
        m_typed->setAccessibleName(tr("Command"));
        m_list->setAccessibleName(tr("Commands found"));
        fill(m_typed->text());
    });
}

int CommandPalette::score(const QString& typed, const QString& name)
{
    int total = 0;
    qsizetype at = 0;
    for (const QChar letter : typed.toLower()) {
        if (letter.isSpace())
            continue;
        const qsizetype found = name.indexOf(letter, at, Qt::CaseInsensitive);
        if (found < 0)
            return -1;
        const bool wordStart = found == 0 || !name[found - 1].isLetterOrNumber();
        total += wordStart ? 8 : found == at ? 4 : 1;
        at = found + 1;
    }
    return total;
}

void CommandPalette::fill(const QString& typed)
{
    struct Row
    {
        int score;
        QAction* action;
    };
    std::vector<Row> rows;
    for (const QPointer<QAction>& action : m_actions) {
        if (action.isNull() || plainText(action).isEmpty())
            continue;
        if (const int points = score(typed, plainText(action)); points >= 0)
            rows.push_back({points + (action->isEnabled() ? 1000 : 0) - (isCopy(*action) ? kCopyRank : 0), action});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.score > b.score; });
    m_list->clear();
    for (const Row& row : rows) {
        QString text = plainText(row.action);
        if (row.action->isCheckable())
            text = (row.action->isChecked() ? QStringLiteral("☑ ") : QStringLiteral("☐ ")) + text;
        if (const QString keys = QKeySequence::listToString(row.action->shortcuts(), QKeySequence::NativeText);
            !keys.isEmpty())
            text += QStringLiteral("    %1").arg(keys);
        auto* item = new QListWidgetItem(text, m_list);
        item->setData(Qt::UserRole, QVariant::fromValue<QObject*>(row.action));
        if (!row.action->isEnabled())
            item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::run()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const QPointer<QAction> action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
    close();
    // After this dialog has given the focus back, so that what runs finds it where it was.
    QMetaObject::invokeMethod(
        qApp,
        [action] {
            if (!action.isNull())
                action->trigger();
        },
        Qt::QueuedConnection);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_typed && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        switch (key->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_PageUp:
        case Qt::Key_PageDown: QCoreApplication::sendEvent(m_list, event); return true;
        case Qt::Key_Return:
        case Qt::Key_Enter: run(); return true;
        default: break;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace lathe::ui
