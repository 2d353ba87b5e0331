#pragma once

#include "ui/pages/page.h"

class QLineEdit;
class QMenu;

namespace lathe::ui {
class Workspace;
}

namespace lathe::examples {

/// A page that the window has never heard of.
class PebblesPage final : public ui::Page
{
public:
    explicit PebblesPage(QWidget* parent);

    void contribute(ui::WindowActions& actions) override;
    bool isFor(ui::Occasion occasion) const override;
    void startFind() override;

    int counted = 0, whistled = 0;

private:
    QLineEdit* m_find;
    QMenu* m_menu;
};

/// For a row of the table of pages.
ui::Page* makePebbles(ui::Workspace& workspace, QWidget* parent);

} // namespace lathe::examples
