#pragma once

#include <QAbstractScrollArea>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <functional>
#include <vector>

namespace lathe::ui {

/// The values of a tensor as a table: trailing dimensions along a row, the others down. Paints what is seen and keeps
/// nothing for what is not, so that hundreds of millions of values scroll as quickly as ten. Arrows, Page Up and Down,
/// Home and End walk; with Shift, or by dragging, a rectangle is selected.
class ValueGrid final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit ValueGrid(QWidget* parent = nullptr);

    /// `text` gives the value of an index in row-major order, empty while it is not there yet; it is called while
    /// painting, for what is seen.
    void setTensor(std::vector<std::int64_t> shape, std::function<QString(std::int64_t)> text);
    /// Values have come: paints anew.
    void refresh();

    std::int64_t rows() const { return m_rows; }
    std::int64_t columns() const { return m_columns; }
    std::int64_t current() const { return m_row * m_columns + m_column; } ///< index in row-major order
    /// Selects a value and scrolls to it.
    void goTo(std::int64_t index);
    /// The index of "3, 0, 2" or "[3][0][2]", or of one number in row-major order; -1: it is none of this tensor.
    std::int64_t indexOf(const QString& place) const;
    QString placeOf(std::int64_t index) const; ///< "[3, 0, 2]"
    /// What is seen as rows of text, column headings first.
    std::vector<QStringList> seen() const;

    struct Rectangle
    {
        std::int64_t row = 0, column = 0, rows = 0, columns = 0;
    };
    Rectangle selected() const;

signals:
    void currentChanged(std::int64_t index);
    void copyWanted(); ///< of what is selected

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void measure();
    void updateScrollBars();
    std::int64_t firstRow() const; ///< that is seen
    int seenRows() const;
    int seenColumns() const;
    QString rowName(std::int64_t row) const;
    QString columnName(std::int64_t column) const;
    QString indices(std::int64_t index, std::size_t first, std::size_t last) const;
    void moveTo(std::int64_t row, std::int64_t column, bool selects);
    bool cellAt(QPoint point, std::int64_t& row, std::int64_t& column) const;

    std::vector<std::int64_t> m_shape;
    std::function<QString(std::int64_t)> m_text;
    std::size_t m_rowDimensions = 0; ///< leading dimensions, which run down
    std::int64_t m_rows = 0, m_columns = 0, m_rowsPerStep = 1;
    std::int64_t m_row = 0, m_column = 0, m_anchorRow = 0, m_anchorColumn = 0;
    int m_rowHeight = 1, m_columnWidth = 1, m_headerWidth = 0;
};

} // namespace lathe::ui
