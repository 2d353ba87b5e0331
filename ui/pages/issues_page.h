#pragma once

#include <QWidget>

namespace lathe::ui {

class TableView;
class Workspace;

/// What went wrong, repeats counted; a double click or Enter goes to the task concerned.
class IssuesPage final : public QWidget
{
    Q_OBJECT

public:
    IssuesPage(Workspace& workspace, QWidget* parent);
};

} // namespace lathe::ui
