#pragma once

#include "ui/pages/page.h"

namespace lathe::ui {

class Workspace;

/// What happened, a line each; the last ten thousand.
class LogPage final : public Page
{
    Q_OBJECT

public:
    LogPage(Workspace& workspace, QWidget* parent);

private:
    bool m_follows = true; ///< stays at the end
};

} // namespace lathe::ui
