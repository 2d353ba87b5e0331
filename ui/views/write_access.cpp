#include "ui/views/write_access.h"

#include <QAction>
#include <QVariant>
#include <QWidget>

namespace lathe::ui {

namespace {

constexpr const char* kOwnTip = "ownToolTip"; ///< while another is shown
constexpr const char* kShownTip = "shownToolTip";

/// A change of language sets the own tip anew, whatever is shown.
template<typename Thing>
void enable(Thing& thing, bool enabled, const QString& whyNot)
{
    const bool explained = thing.property(kShownTip).isValid()
                           && thing.toolTip() == thing.property(kShownTip).toString();
    const QString own = explained ? thing.property(kOwnTip).toString() : thing.toolTip();
    thing.setEnabled(enabled && whyNot.isEmpty());
    thing.setProperty(kOwnTip, own);
    thing.setProperty(kShownTip, whyNot.isEmpty() ? QVariant() : QVariant(whyNot));
    thing.setToolTip(whyNot.isEmpty() ? own : whyNot);
}

} // namespace

void enableToWrite(QWidget& widget, bool enabled, const QString& whyNot)
{
    enable(widget, enabled, whyNot);
}

void enableToWrite(QAction& action, bool enabled, const QString& whyNot)
{
    enable(action, enabled, whyNot);
}

} // namespace lathe::ui
