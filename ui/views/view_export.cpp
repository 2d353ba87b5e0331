#include "ui/views/view_export.h"

#include "ui/views/exportable.h"
#include "ui/views/graph_view.h"
#include "ui/views/record_table.h"
#include "ui/views/zoomable.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QDrag>
#include <QFileDialog>
#include <QHeaderView>
#include <QImage>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTableView>
#include <QTreeView>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr double kPictureScale = 2; ///< of files: sharp in print and on dense screens

QString translated(const char* text)
{
    return QCoreApplication::translate("ViewExport", text);
}

const QHeaderView* headerOf(const QAbstractItemView& view)
{
    if (const auto* table = qobject_cast<const QTableView*>(&view))
        return table->horizontalHeader();
    if (const auto* tree = qobject_cast<const QTreeView*>(&view))
        return tree->header();
    return nullptr;
}

std::vector<QStringList> graphRows(const GraphView& view)
{
    std::vector<QStringList> rows{
        {translated(QT_TRANSLATE_NOOP("ViewExport", "Node")), translated(QT_TRANSLATE_NOOP("ViewExport", "Operator")),
         translated(QT_TRANSLATE_NOOP("ViewExport", "Name")), translated(QT_TRANSLATE_NOOP("ViewExport", "Task")),
         translated(QT_TRANSLATE_NOOP("ViewExport", "Output"))}};
    const session::GraphView* graph = view.scene().graph();
    if (graph == nullptr)
        return {};
    for (const session::NodeView& node : graph->nodes) {
        QStringList shapes;
        for (const session::TensorView& tensor : node.outputs) {
            QStringList dims;
            for (const auto dim : tensor.shape)
                dims << QString::number(dim);
            shapes << QString::fromStdString(tensor.dtype) + QLatin1Char(' ') + dims.join(QLatin1Char('x'));
        }
        rows.push_back({QString::number(node.id), QString::fromStdString(node.op), QString::fromStdString(node.name),
                        node.task < 0 ? QString() : QString::number(node.task), shapes.join(QStringLiteral("; "))});
    }
    return rows;
}

std::vector<QStringList> allRows(const QWidget& view)
{
    if (const auto* items = qobject_cast<const QAbstractItemView*>(&view))
        return rowsOf(*items, true);
    if (const auto* graph = qobject_cast<const GraphView*>(&view))
        return graphRows(*graph);
    const auto* exportable = dynamic_cast<const Exportable*>(&view);
    return exportable == nullptr ? std::vector<QStringList>() : exportable->exportRows();
}

/// Null where the view has no picture now.
QImage pictureOf(const QWidget& view, double scale)
{
    if (const auto* graph = qobject_cast<const GraphView*>(&view))
        return graph->scene().graph() == nullptr ? QImage() : graph->image(scale);
    if (const auto* exportable = dynamic_cast<const Exportable*>(&view)) {
        const QSize size = exportable->pictureSize();
        if (size.isEmpty())
            return {};
        QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
        image.fill(view.palette().color(QPalette::Base));
        QPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.scale(scale, scale);
        exportable->paintPicture(painter);
        return image;
    }
    // A table as it is seen.
    QImage image(view.size() * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    const_cast<QWidget&>(view).render(&image);
    return image;
}

void paintSvg(const QWidget& view, QSvgGenerator& svg)
{
    if (const auto* exportable = dynamic_cast<const Exportable*>(&view)) {
        svg.setSize(exportable->pictureSize());
        svg.setViewBox(QRect(QPoint(), exportable->pictureSize()));
        QPainter painter(&svg);
        exportable->paintPicture(painter);
        return;
    }
    svg.setSize(view.size());
    svg.setViewBox(view.rect());
    QPainter painter(&svg);
    const_cast<QWidget&>(view).render(&painter);
}

QString cannotWrite(const QString& file, const QString& why)
{
    return translated(QT_TRANSLATE_NOOP("ViewExport", "Cannot write %1: %2")).arg(file, why);
}

} // namespace

QWidget* exportableView(QWidget* at)
{
    for (; at != nullptr; at = at->parentWidget()) {
        if (dynamic_cast<Exportable*>(at) != nullptr || qobject_cast<GraphView*>(at) != nullptr)
            return at;
        if (auto* items = qobject_cast<QAbstractItemView*>(at);
            items != nullptr && items->model() != nullptr && !at->window()->windowFlags().testFlag(Qt::Popup))
            return at;
        if (at->isWindow())
            return nullptr;
    }
    return nullptr;
}

std::vector<QStringList> rowsOf(const QAbstractItemView& view, bool all)
{
    const QAbstractItemModel* model = view.model();
    const QHeaderView* header = headerOf(view);
    std::vector<int> columns;
    for (int visual = 0;
         visual < (header == nullptr ? std::min(1, model->columnCount(view.rootIndex())) : header->count()); ++visual)
        if (const int column = header == nullptr ? visual : header->logicalIndex(visual);
            header == nullptr || !header->isSectionHidden(column))
            columns.push_back(column);
    std::vector<QStringList> rows;
    if (header != nullptr) {
        rows.emplace_back();
        for (const int column : columns)
            rows.back() << model->headerData(column, Qt::Horizontal).toString();
    }
    const auto add = [&](const QModelIndex& parent, int row, int depth) {
        rows.emplace_back();
        for (const int column : columns)
            rows.back() << (column == columns.front() ? QString(depth * 2, QLatin1Char(' ')) : QString())
                               + model->index(row, column, parent).data().toString();
    };
    // Depth first, as a tree is read.
    const auto walk = [&](auto&& self, const QModelIndex& parent, int depth, bool below) -> void {
        for (int row = 0; row < model->rowCount(parent); ++row) {
            const QModelIndex index = model->index(row, 0, parent);
            // A row brings what is below it.
            const bool taken = all || below || view.selectionModel()->isRowSelected(row, parent)
                               || view.selectionModel()->isSelected(index);
            if (taken)
                add(parent, row, depth);
            if (model->hasChildren(index))
                self(self, index, taken ? depth + 1 : 0, taken && !all);
        }
    };
    if (all || qobject_cast<const QTreeView*>(&view) != nullptr) {
        walk(walk, view.rootIndex(), 0, false);
    } else {
        std::vector<int> selected;
        for (const QModelIndex& index : view.selectionModel()->selectedIndexes())
            selected.push_back(index.row());
        std::sort(selected.begin(), selected.end());
        selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
        for (const int row : selected)
            add(view.rootIndex(), row, 0);
    }
    return rows;
}

QString rowsText(const std::vector<QStringList>& rows, QChar separator)
{
    QString text;
    for (const QStringList& row : rows) {
        for (qsizetype i = 0; i < row.size(); ++i) {
            QString cell = row[i];
            if (separator == QLatin1Char(',')) {
                if (cell.contains(QLatin1Char(',')) || cell.contains(QLatin1Char('"'))
                    || cell.contains(QLatin1Char('\n')))
                    cell = QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
            } else {
                cell.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
            }
            text += (i == 0 ? QString() : QString(separator)) + cell;
        }
        text += QLatin1Char('\n');
    }
    return text;
}

QMimeData* mimeData(const QWidget& view)
{
    auto* data = new QMimeData;
    if (const auto* items = qobject_cast<const QAbstractItemView*>(&view)) {
        data->setText(rowsText(rowsOf(*items, !items->selectionModel()->hasSelection()), QLatin1Char('\t')));
        return data;
    }
    data->setImageData(pictureOf(view, view.devicePixelRatioF()));
    if (const auto* graph = qobject_cast<const GraphView*>(&view);
        graph != nullptr && graph->scene().graph() != nullptr)
        data->setData(QStringLiteral("image/svg+xml"), graph->svg());
    return data;
}

void copyView(QWidget& view)
{
    if (auto* records = qobject_cast<RecordTable*>(&view))
        emit records->copyRequested(); // its rows must be read first
    else
        QApplication::clipboard()->setMimeData(mimeData(view));
}

QStringList exportSuffixes(const QWidget& view)
{
    if (qobject_cast<const QAbstractItemView*>(&view) != nullptr)
        return {QStringLiteral(".csv"), QStringLiteral(".png"), QStringLiteral(".svg")};
    return {QStringLiteral(".png"), QStringLiteral(".svg"), QStringLiteral(".csv")};
}

QString saveView(QWidget& view, const QString& file)
{
    if (!file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive) && qobject_cast<GraphView*>(&view) != nullptr)
        return static_cast<GraphView&>(view).savePicture(file)
                   ? QString()
                   : cannotWrite(file, translated(QT_TRANSLATE_NOOP(
                                           "ViewExport", "no network is open, or the file cannot be written")));
    const auto* exportable = dynamic_cast<const Exportable*>(&view);
    if (!file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive) && exportable != nullptr
        && exportable->pictureSize().isEmpty())
        return cannotWrite(file, translated(QT_TRANSLATE_NOOP("ViewExport", "there is nothing to save yet")));
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return cannotWrite(file, out.errorString());
    if (file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) {
        out.write(rowsText(allRows(view), QLatin1Char(',')).toUtf8());
    } else if (file.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setOutputDevice(&out);
        svg.setTitle(view.accessibleName());
        svg.setDescription(view.accessibleDescription());
        paintSvg(view, svg);
    } else if (file.endsWith(QStringLiteral(".png"), Qt::CaseInsensitive)) {
        if (!pictureOf(view, kPictureScale).save(&out, "PNG"))
            out.cancelWriting(); // commit() tells
    } else {
        out.cancelWriting();
        return cannotWrite(file,
                           translated(QT_TRANSLATE_NOOP("ViewExport", "the name must end in .png, .svg or .csv")));
    }
    return out.commit() ? QString() : cannotWrite(file, out.errorString());
}

QString browseAndSaveView(QWidget& view)
{
    if (auto* records = qobject_cast<RecordTable*>(&view)) {
        emit records->exportRequested();
        return {};
    }
    QStringList filters;
    for (const QString& suffix : exportSuffixes(view))
        filters << (suffix == QStringLiteral(".csv") ? translated(QT_TRANSLATE_NOOP("ViewExport", "CSV table (*.csv)"))
                    : suffix == QStringLiteral(".svg")
                        ? translated(QT_TRANSLATE_NOOP("ViewExport", "SVG image (*.svg)"))
                        : translated(QT_TRANSLATE_NOOP("ViewExport", "PNG image (*.png)")));
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        view.window(), translated(QT_TRANSLATE_NOOP("ViewExport", "Save this view")),
        view.objectName() + exportSuffixes(view).first(), filters.join(QStringLiteral(";;")), &chosen);
    if (file.isEmpty())
        return {};
    const bool known = std::any_of(filters.begin(), filters.end(), [&](const QString& filter) {
        return file.endsWith(filter.section(QLatin1Char('*'), 1).chopped(1), Qt::CaseInsensitive);
    });
    if (!known) // the kind that was chosen, where the name does not tell
        file += chosen.isEmpty() ? exportSuffixes(view).first() : chosen.section(QLatin1Char('*'), 1).chopped(1);
    return saveView(view, file);
}

void addViewActions(QMenu& menu, QWidget& view)
{
    if (Zoomable* const zoomable = zoomableView(&view))
        menu.addAction(translated(QT_TRANSLATE_NOOP("ViewExport", "Zoom to &fit")), &view,
                       [zoomable] { zoomable->zoomToFit(); });
    const bool table = qobject_cast<QAbstractItemView*>(&view) != nullptr;
    menu.addAction(translated(table ? QT_TRANSLATE_NOOP("ViewExport", "&Copy")
                                    : QT_TRANSLATE_NOOP("ViewExport", "&Copy picture")),
                   &view, [&view] { copyView(view); })
        ->setShortcut(QKeySequence::Copy);
    menu.addAction(translated(QT_TRANSLATE_NOOP("ViewExport", "Copy as C&SV")), &view,
                   [&view] { QApplication::clipboard()->setText(rowsText(allRows(view), QLatin1Char(','))); });
    menu.addAction(translated(QT_TRANSLATE_NOOP("ViewExport", "Sa&ve this view…")), &view, [&view] {
        if (const QString problem = browseAndSaveView(view); !problem.isEmpty())
            QMessageBox::warning(view.window(), translated(QT_TRANSLATE_NOOP("ViewExport", "Not saved")), problem);
    });
}

void dragView(QWidget& view)
{
    auto* drag = new QDrag(&view);
    QMimeData* data = mimeData(view);
    if (data->hasImage())
        drag->setPixmap(QPixmap::fromImage(
            qvariant_cast<QImage>(data->imageData()).scaled(160, 120, Qt::KeepAspectRatio, Qt::SmoothTransformation)));
    drag->setMimeData(data);
    drag->exec(Qt::CopyAction);
}

} // namespace lathe::ui
