#pragma once

#include "ui/models/manual.h"

#include <QDialog>

QT_BEGIN_NAMESPACE
class QLabel;
class QLineEdit;
class QTextBrowser;
class QToolButton;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;

/// The manual in a window of its own, beside the work: contents, search, back and forward. Follows the language.
class ManualWindow final : public QDialog
{
    Q_OBJECT

public:
    /// `actions`: for the topic that lists all commands and their keys.
    ManualWindow(const ActionCatalog& actions, QWidget* parent);

    /// The welcome where there is no such topic.
    void showTopic(const QString& id);
    QString topic() const;

    /// Widgets say which topic is theirs; what has none has that of the nearest parent.
    static void setTopic(QWidget* widget, const QString& id);
    static QString topicOf(const QWidget* widget);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void read();
    void fillContents();
    void search();
    void formatTables();
    void mark();
    QString keysText() const;

    const ActionCatalog& m_actions;
    Manual m_manual;
    QLineEdit* m_search = nullptr;
    QLabel* m_found = nullptr;
    QTreeWidget* m_contents = nullptr;
    QTextBrowser* m_text = nullptr;
    QToolButton *m_back = nullptr, *m_forward = nullptr;
};

} // namespace lathe::ui
