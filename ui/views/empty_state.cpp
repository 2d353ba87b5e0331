#include "ui/views/empty_state.h"

#include "ui/models/language.h"
#include "ui/views/spacing.h"

#include <QAbstractItemModel>
#include <QAbstractItemView>
#include <QAction>
#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace lathe::ui {

EmptyState::EmptyState(QAbstractItemView* view, std::function<Text()> text)
    : QWidget(view->viewport())
    , m_view(*view)
    , m_text(std::move(text))
    , m_sentence(new QLabel(this))
    , m_button(new QPushButton(this))
{
    setObjectName(view->objectName() + QStringLiteral("Empty"));
    m_sentence->setObjectName(QStringLiteral("emptySentence"));
    m_button->setObjectName(QStringLiteral("emptyAction"));
    m_sentence->setWordWrap(true);
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setForegroundRole(QPalette::PlaceholderText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kMedium, spacing::kSmall, spacing::kMedium, spacing::kSmall);
    layout->setSpacing(spacing::kSmall);
    layout->addStretch();
    layout->addWidget(m_sentence);
    layout->addWidget(m_button, 0, Qt::AlignCenter);
    layout->addStretch();
    view->viewport()->installEventFilter(this);
    connect(m_button, &QPushButton::clicked, this, &EmptyState::press);
    const QAbstractItemModel* model = view->model();
    connect(model, &QAbstractItemModel::rowsInserted, this, &EmptyState::refresh);
    connect(model, &QAbstractItemModel::rowsRemoved, this, &EmptyState::refresh);
    connect(model, &QAbstractItemModel::modelReset, this, &EmptyState::refresh);
    connect(model, &QAbstractItemModel::layoutChanged, this, &EmptyState::refresh);
    retranslated(this, [this] { refresh(); });
}

void EmptyState::refresh()
{
    const bool empty = m_view.model()->rowCount(m_view.rootIndex()) == 0;
    setVisible(empty);
    const Text text = m_text();
    m_action = text.action;
    m_sentence->setText(text.sentence);
    const auto* action = m_action.isEmpty() ? nullptr : m_view.window()->findChild<QAction*>(m_action);
    m_button->setVisible(action != nullptr && action->isEnabled());
    if (action != nullptr) // a run that starts disables some
        connect(action, &QAction::changed, this, &EmptyState::refresh, Qt::UniqueConnection);
    if (action != nullptr)
        m_button->setText(action->text());
    setGeometry(m_view.viewport()->rect());
}

void EmptyState::press()
{
    if (auto* action = m_view.window()->findChild<QAction*>(m_action))
        action->trigger();
}

bool EmptyState::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        setGeometry(m_view.viewport()->rect());
    else if (event->type() == QEvent::Show)
        refresh(); // the window has its actions by now
    return QWidget::eventFilter(watched, event);
}

} // namespace lathe::ui
