#pragma once

#include "core/session/session.h"

#include <QDialog>

#include <vector>

QT_BEGIN_NAMESPACE
class QDialogButtonBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
QT_END_NAMESPACE

namespace lathe::ui {

/// Asks how large the inputs of a model are where its file leaves that open: a row for each dimension, those of one
/// name together, with what it probably is and usual sizes. Shows the shapes that come of it. Modal to its window;
/// accepted() or rejected() follows.
class InputSizesDialog final : public QDialog
{
    Q_OBJECT

public:
    /// Dimensions without a size get their guess.
    InputSizesDialog(const QString& model, frontend::OpenInputs open, QWidget* parent);

    /// What was chosen, as options of the model.
    session::OptionSizes sizes() const;
    session::OptionShapes shapes() const;

private:
    struct Row
    {
        QLabel* name = nullptr;
        QLabel* about = nullptr; ///< what it is, and where
        QSpinBox* size = nullptr;
    };
    struct ShapeRow
    {
        QLabel* name = nullptr;
        QLineEdit* shape = nullptr;
    };
    void addDimension(QGridLayout& grid, std::size_t index);
    void addShape(QGridLayout& grid, const std::string& input);
    void showResult();
    void retranslate();

    QString m_model;
    frontend::OpenInputs m_open;
    QLabel* m_intro = nullptr;
    QLabel* m_result = nullptr;
    QDialogButtonBox* m_buttons = nullptr;
    std::vector<Row> m_rows;
    std::vector<ShapeRow> m_shapeRows;
};

} // namespace lathe::ui
