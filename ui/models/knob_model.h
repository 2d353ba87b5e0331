#pragma once

#include "core/session/template_trials.h"
#include "core/session/template_views.h"

#include <QAbstractTableModel>

#include <vector>

namespace lathe::ui {

/// The knobs of a template, a row each, with what the fastest configuration has.
class KnobModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        BestColumn,
        ChoicesColumn,
        TriedColumn,
        ExtentColumn,
        KindColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// `trials` null: nothing was measured; `best` null: nothing valid was.
    void setTemplate(const std::vector<session::KnobView>& knobs, const session::TemplateTrials* trials,
                     const session::TriedConfig* best);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// "split", "order", "marks", "option" in the window's language.
    static QString kindText(const std::string& kind);

private:
    struct Row
    {
        session::KnobView knob;
        std::size_t tried = 0; ///< values
        QString best;
    };
    std::vector<Row> m_rows;
};

} // namespace lathe::ui
