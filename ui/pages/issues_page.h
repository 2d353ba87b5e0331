#pragma once

#include "ui/pages/page.h"

namespace lathe::ui {

class TableView;
class Workspace;

/// What went wrong, repeats counted; a double click or Enter goes to the task concerned.
class IssuesPage final : public Page
{
    Q_OBJECT

public:
    IssuesPage(Workspace& workspace, QWidget* parent);
    bool isFor(Occasion occasion) const override { return occasion == Occasion::IssueRaised; }
};

} // namespace lathe::ui
