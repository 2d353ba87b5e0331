#pragma once

#include <QWidget>

namespace lathe::ui {

class Workspace;

/// What happened, a line each; the last ten thousand.
class LogPage final : public QWidget
{
    Q_OBJECT

public:
    LogPage(Workspace& workspace, QWidget* parent);
};

} // namespace lathe::ui
