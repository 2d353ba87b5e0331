#include "ui/pages/hold_button.h"

#include "ui/models/language.h"
#include "ui/models/round_model.h"

namespace lathe::ui {

HoldButton::HoldButton(RoundModel& rounds, const char* name, QWidget* parent)
    : QToolButton(parent)
{
    setObjectName(QLatin1String(name));
    setCheckable(true);
    setChecked(rounds.isHeld());
    connect(this, &QToolButton::toggled, &rounds, &RoundModel::setHeld);
    connect(&rounds, &RoundModel::heldChanged, this, &QToolButton::setChecked);
    retranslated(this, [this] {
        setText(tr("Hol&d"));
        setToolTip(tr("Freeze curves, rounds and times while the run continues"));
    });
}

} // namespace lathe::ui
