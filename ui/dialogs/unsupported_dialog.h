#pragma once

#include "core/session/views.h"

#include <QDialog>

QT_BEGIN_NAMESPACE
class QLabel;
class QPushButton;
class QStandardItemModel;
QT_END_NAMESPACE

namespace lathe::ui {

class TableView;

/// Lists all that Lathe lacks for a model that could not be opened: what, how many nodes need it, which those are.
class UnsupportedDialog final : public QDialog
{
    Q_OBJECT

public:
    /// `refusal`: what the importer's error is about.
    UnsupportedDialog(const QString& model, About refusal, QWidget* parent);

private:
    void retranslate();

    QString m_model;
    About m_refusal;
    QLabel* m_intro = nullptr;
    TableView* m_table = nullptr;
    QStandardItemModel* m_rows = nullptr;
    QPushButton* m_close = nullptr;
};

} // namespace lathe::ui
