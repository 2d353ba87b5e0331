#include "ui/commands/action_catalog.h"

#include "ui/models/language.h"

#include <QAction>
#include <QCoreApplication>
#include <QSettings>

#include <algorithm>

namespace lathe::ui {

namespace {

QString settingsKey(const QAction* action)
{
    return QStringLiteral("shortcuts/") + action->objectName();
}

} // namespace

QAction* ActionCatalog::make(const char* id, const char* text, const QList<QKeySequence>& keys)
{
    auto* action = new QAction(this);
    action->setObjectName(QLatin1String(id));
    action->setShortcuts(keys);
    retranslated(action, [action, text] { action->setText(QCoreApplication::translate("Actions", text)); });
    registerKeys(action);
    return action;
}

QAction* ActionCatalog::add(const char* id, const char* text, const QList<QKeySequence>& keys,
                            std::function<void()> run)
{
    QAction* action = make(id, text, keys);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    return action;
}

QAction* ActionCatalog::addCheckable(const char* id, const char* text, const QList<QKeySequence>& keys,
                                     std::function<void(bool)> run)
{
    QAction* action = make(id, text, keys);
    action->setCheckable(true);
    connect(action, &QAction::triggered, this, [run = std::move(run)](bool on) { run(on); });
    return action;
}

void ActionCatalog::adopt(QAction* action)
{
    registerKeys(action);
}

void ActionCatalog::registerKeys(QAction* action)
{
    m_actions.push_back(action);
    m_defaults.push_back(action->shortcuts());
    const QVariant stored = QSettings().value(settingsKey(action));
    if (stored.isValid())
        action->setShortcuts(QKeySequence::listFromString(stored.toString(), QKeySequence::PortableText));
}

QAction* ActionCatalog::find(const QString& id) const
{
    const auto found = std::find_if(m_actions.begin(), m_actions.end(),
                                    [&](const QAction* action) { return action->objectName() == id; });
    return found == m_actions.end() ? nullptr : *found;
}

QList<QKeySequence> ActionCatalog::defaultKeys(const QAction* action) const
{
    const auto found = std::find(m_actions.begin(), m_actions.end(), action);
    return found == m_actions.end() ? QList<QKeySequence>()
                                    : m_defaults[static_cast<std::size_t>(found - m_actions.begin())];
}

std::vector<QAction*> ActionCatalog::setKeys(QAction* action, const QList<QKeySequence>& keys)
{
    std::vector<QAction*> clashing;
    const auto store = [this](const QAction* changed) {
        if (changed->shortcuts() == defaultKeys(changed))
            QSettings().remove(settingsKey(changed));
        else
            QSettings().setValue(settingsKey(changed),
                                 QKeySequence::listToString(changed->shortcuts(), QKeySequence::PortableText));
    };
    for (QAction* other : m_actions) {
        if (other == action)
            continue;
        QList<QKeySequence> left = other->shortcuts();
        const auto before = left.size();
        left.removeIf([&](const QKeySequence& key) { return keys.contains(key); });
        if (left.size() != before) {
            other->setShortcuts(left);
            store(other);
            clashing.push_back(other);
        }
    }
    action->setShortcuts(keys);
    store(action);
    return clashing;
}

} // namespace lathe::ui
