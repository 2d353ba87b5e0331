#pragma once

#include "core/session/report/text_diff.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QPlainTextEdit;
QT_END_NAMESPACE

namespace lathe::ui {

/// Two texts held against each other, side by side or as one, with line numbers, '-' and '+' before what differs, and
/// colours that say the same.
class DiffView final : public QWidget
{
    Q_OBJECT

public:
    explicit DiffView(QWidget* parent = nullptr);

    void setLines(std::vector<session::DiffLine> lines);
    void setMessage(const QString& text); ///< instead of texts
    void setSideBySide(bool on);
    void setOnlyChanges(bool on); ///< and three lines around them
    int removed() const;
    int added() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    QPlainTextEdit* makeText(const char* name);

    std::vector<session::DiffLine> m_lines;
    QString m_message;
    bool m_sideBySide = true, m_onlyChanges = true;
    QPlainTextEdit *m_left = nullptr, *m_right = nullptr;
};

} // namespace lathe::ui
