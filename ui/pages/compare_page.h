#pragma once

#include <QString>
#include <QTimer>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

class CompareModel;
class TableView;
class Workspace;

/// The open project held against another: task by task, with what differs in their conditions.
class ComparePage final : public QWidget
{
    Q_OBJECT

public:
    ComparePage(Workspace& workspace, QWidget* parent);

    /// A project file.
    void compareWith(const QString& file);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void browse();
    void read();
    Workspace& m_workspace;
    CompareModel* m_model = nullptr;
    TableView* m_table = nullptr;
    QPushButton* m_choose = nullptr;
    QLabel *m_summary = nullptr, *m_unlike = nullptr;
    QString m_base;
    QTimer m_refresh;
    bool m_reading = false;
};

} // namespace lathe::ui
