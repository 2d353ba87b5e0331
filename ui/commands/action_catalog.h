#pragma once

#include <QKeySequence>
#include <QObject>

#include <functional>
#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
QT_END_NAMESPACE

namespace lathe::ui {

/// Every action of the window under an id, for menus, the command palette and the list of shortcuts. Texts follow the
/// language, shortcuts the settings.
class ActionCatalog final : public QObject
{
    Q_OBJECT

public:
    explicit ActionCatalog(QObject* parent)
        : QObject(parent)
    {
    }

    /// `text` in English, shown translated in the context "Actions". The action's objectName is its id.
    QAction* add(const char* id, const char* text, const QList<QKeySequence>& keys, std::function<void()> run);
    QAction* addCheckable(const char* id, const char* text, const QList<QKeySequence>& keys,
                          std::function<void(bool)> run);
    /// An action made elsewhere, which sets its own text. Its shortcuts are the defaults.
    void adopt(QAction* action);

    const std::vector<QAction*>& all() const { return m_actions; }
    QAction* find(const QString& id) const;
    QList<QKeySequence> defaultKeys(const QAction* action) const;
    /// Remembered in the settings; those of other actions that clash are taken away, and returned.
    std::vector<QAction*> setKeys(QAction* action, const QList<QKeySequence>& keys);

private:
    QAction* make(const char* id, const char* text, const QList<QKeySequence>& keys);
    void registerKeys(QAction* action);
    std::vector<QAction*> m_actions;
    std::vector<QList<QKeySequence>> m_defaults;
};

} // namespace lathe::ui
