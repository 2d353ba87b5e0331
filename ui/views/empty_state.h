#pragma once

#include <QString>
#include <QWidget>

#include <functional>

class QAbstractItemView;
class QLabel;
class QPushButton;

namespace lathe::ui {

/// What a list without rows shows instead of them: a sentence that says why it is empty and what to do next, and a
/// button that does it. Lies over the view, which owns it; drops and clicks beside the button reach the view. UI
/// thread.
class EmptyState : public QWidget
{
    Q_OBJECT

public:
    struct Text
    {
        QString sentence;
        QString
            action; ///< object name of an action of the window ("actionStart"); empty, not there, disabled: no button
    };
    /// @param text  asked whenever the view may have become empty, and in another language.
    EmptyState(QAbstractItemView* view, std::function<Text()> text);

    /// What it says may have changed while the view stayed empty.
    void refresh();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override; ///< follows the view's size

private:
    void press();

    QAbstractItemView& m_view;
    std::function<Text()> m_text;
    QLabel* m_sentence;
    QPushButton* m_button;
    QString m_action;
};

} // namespace lathe::ui
