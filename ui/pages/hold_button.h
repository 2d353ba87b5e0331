#pragma once

#include <QToolButton>

namespace lathe::ui {

class RoundModel;

/// Keeps the live views (curves, rounds, times) as they are while the run goes on; one wish for all of them.
class HoldButton final : public QToolButton
{
    Q_OBJECT

public:
    HoldButton(RoundModel& rounds, const char* name, QWidget* parent);
};

} // namespace lathe::ui
