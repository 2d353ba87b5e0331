#pragma once

#include <QString>
#include <QStringList>

#include <vector>

QT_BEGIN_NAMESPACE
class QAbstractItemView;
class QMenu;
class QMimeData;
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

/// The one way by which contents leave a view: copy, save, drag. Works on Exportable views, on the network's graph and
/// on every table, tree and list.

/// `at` or the nearest of its parents whose contents can be taken out; null: there is none.
QWidget* exportableView(QWidget* at);

/// Rows that are selected (all: every row) as shown, headings first, hidden columns left out; those of trees indented.
std::vector<QStringList> rowsOf(const QAbstractItemView& view, bool all);
/// `separator` a tab or a comma; cells with commas, quotes or line breaks are quoted in the latter.
QString rowsText(const std::vector<QStringList>& rows, QChar separator);

/// Pictures as an image, with their numbers as text beside it; tables as text.
QMimeData* mimeData(const QWidget& view);
void copyView(QWidget& view);
/// ".svg", ".png", ".csv", as far as the view has them, the most useful first.
QStringList exportSuffixes(const QWidget& view);
/// By the file's suffix. One sentence if it cannot be written, else empty.
QString saveView(QWidget& view, const QString& file);
/// Asks for a file and saves; the sentence of saveView(), empty also if nothing was chosen.
QString browseAndSaveView(QWidget& view);
/// What the menu of every view has: zoom to fit where it can be zoomed, copy, copy as CSV, save.
void addViewActions(QMenu& menu, QWidget& view);
/// Starts dragging mimeData(); for mouse moves with the left button down.
void dragView(QWidget& view);

} // namespace lathe::ui
