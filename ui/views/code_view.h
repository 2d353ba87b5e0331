#pragma once

#include "ui/views/code_syntax.h"

#include <QPlainTextEdit>
#include <QSet>

#include <map>
#include <vector>

QT_BEGIN_NAMESPACE
class QLabel;
class QLineEdit;
QT_END_NAMESPACE

namespace lathe::ui {

/// A program to be read: monospaced, coloured, with line numbers and a search field (Ctrl+F; F3, Shift+F3 go on).
/// Lines can be marked, and have a colour beside their number. Colours are found as lines are seen, so that a hundred
/// thousand lines are there at once.
class CodeView final : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit CodeView(QWidget* parent = nullptr);

    /// `language` as of ListingKind.
    void setCode(const QString& text, const QString& language);
    QString language() const { return m_language; }

    /// What a stretch of lines is, shown as a bar beside the numbers with a hint.
    struct Side
    {
        int first = 0, last = 0;
        QColor color;
        QString hint;
    };
    void setSides(std::vector<Side> sides);
    /// Marks lines; scrolls to the first of them where `shows` and none of them is seen.
    void setMarked(const QSet<int>& lines, bool shows);
    const QSet<int>& marked() const { return m_marked; }
    void showLine(int line);
    int currentLine() const { return textCursor().blockNumber(); }

    void startFind();
    int matches() const { return static_cast<int>(m_matches.size()); }
    /// What file dialogs offer for it: "kernel.s".
    void setFileName(const QString& name) { m_fileName = name; }

signals:
    void lineChosen(int line); ///< by a click or the keyboard

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void makeFindBar();
    void retranslate();
    void colour(int first, int last);
    void recolour();
    void find(const QString& text);
    void findNext(int direction);
    void endFind();
    void placeChildren();
    int numberWidth() const;
    void paintNumbers(QPaintEvent* event);
    QString hintAt(int y) const;
    int lineAt(int y) const;
    void browseAndSave();
    /// What calls on each block that is seen, with its place in the viewport.
    template<typename Each>
    void eachSeen(Each each) const;

    QString m_language;
    CodeFormats m_formats;
    int m_colours = 0; ///< which ones a block has: its user state
    std::vector<bool> m_inComment; ///< by line, as far as it is known: it begins in a comment
    std::vector<Side> m_sides;
    QSet<int> m_marked;
    QWidget* m_numbers = nullptr;
    QWidget* m_findBar = nullptr;
    QLineEdit* m_find = nullptr;
    QLabel* m_found = nullptr;
    std::vector<int> m_matches; ///< positions
    int m_match = -1;
    QString m_fileName;
};

} // namespace lathe::ui
