#include "ui/views/appearance.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QCoreApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QSettings>
#include <QStyleOption>
#include <QToolBar>
#include <QToolButton>

namespace lathe::ui {

namespace {

QPalette lightPalette()
{
    QPalette p(QColor(0xf2, 0xf2, 0xf2));
    p.setColor(QPalette::Base, Qt::white);
    p.setColor(QPalette::AlternateBase, QColor(0xf6, 0xf7, 0xf9));
    p.setColor(QPalette::WindowText, QColor(0x1c, 0x1c, 0x1c));
    p.setColor(QPalette::Text, QColor(0x1c, 0x1c, 0x1c));
    p.setColor(QPalette::ButtonText, QColor(0x1c, 0x1c, 0x1c));
    p.setColor(QPalette::Highlight, QColor(0x1f, 0x6f, 0xb5));
    p.setColor(QPalette::HighlightedText, Qt::white);
    p.setColor(QPalette::PlaceholderText, QColor(0x60, 0x60, 0x60));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, QColor(0xa6, 0xa6, 0xa6));
    return p;
}

QPalette darkPalette()
{
    QPalette p(QColor(0x2b, 0x2d, 0x30));
    p.setColor(QPalette::Window, QColor(0x2b, 0x2d, 0x30));
    p.setColor(QPalette::Base, QColor(0x1f, 0x20, 0x22));
    p.setColor(QPalette::AlternateBase, QColor(0x26, 0x28, 0x2a));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
        p.setColor(role, QColor(0xe4, 0xe6, 0xea));
    p.setColor(QPalette::Button, QColor(0x36, 0x39, 0x3d));
    p.setColor(QPalette::ToolTipBase, QColor(0x36, 0x39, 0x3d));
    p.setColor(QPalette::Highlight, QColor(0x3d, 0x8f, 0xd6));
    p.setColor(QPalette::HighlightedText, Qt::black);
    p.setColor(QPalette::Link, QColor(0x6c, 0xb2, 0xf0));
    p.setColor(QPalette::PlaceholderText, QColor(0xa0, 0xa4, 0xaa));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, QColor(0x7c, 0x80, 0x86));
    return p;
}

/// Fusion; the buttons of all dialogs are words alone, whether Qt made them or a page of ours; lists and texts show
/// that they have the focus even while nothing in them is chosen; and a tool button that stays down is told apart from
/// one that does something once: it has a frame, and is tinted while it is down.
class Style final : public QProxyStyle
{
public:
    Style()
        : QProxyStyle(QStringLiteral("Fusion"))
    {
    }
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* answer) const override
    {
        return hint == SH_DialogButtonBox_ButtonsHaveIcons ? 0 : QProxyStyle::styleHint(hint, option, widget, answer);
    }
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override
    {
        const bool hovered = option->state.testFlag(State_MouseOver) && option->state.testFlag(State_Enabled);
        if (control == CC_ToolButton && option->state.testFlag(State_AutoRaise) && !hovered
            && !(option->state & (State_On | State_Sunken)))
            drawToggle(*option, *painter, widget); // which has no panel while it is up
        const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
        if (button == nullptr || widget == nullptr || widget->objectName() != QLatin1String("qt_toolbar_ext_button")) {
            QProxyStyle::drawComplexControl(control, option, painter, widget);
            return;
        }
        QStyleOptionToolButton arrow = *button; // Qt's own is black, whatever the palette
        arrow.icon = inColor(button->icon, button->iconSize, button->palette.color(QPalette::ButtonText));
        QProxyStyle::drawComplexControl(control, &arrow, painter, widget);
    }
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override
    {
        if (element == PE_PanelButtonTool && drawToggle(*option, *painter, widget))
            return;
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        if (element != PE_Frame || !option->state.testFlag(State_HasFocus)
            || qobject_cast<const QAbstractScrollArea*>(widget) == nullptr)
            return;
        painter->setPen(option->palette.color(QPalette::Highlight));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
    }

private:
    static QIcon inColor(const QIcon& icon, const QSize& size, const QColor& color)
    {
        QPixmap picture = icon.pixmap(size);
        QPainter painter(&picture);
        painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
        painter.fillRect(picture.rect(), color);
        return QIcon(picture);
    }
    /// False: it is none.
    static bool drawToggle(const QStyleOption& option, QPainter& painter, const QWidget* widget)
    {
        const auto* button = qobject_cast<const QToolButton*>(widget);
        if (button == nullptr || !button->isCheckable())
            return false;
        const QPalette& colors = option.palette;
        const bool down = option.state.testFlag(State_On) || option.state.testFlag(State_Sunken);
        if (!down && qobject_cast<const QToolBar*>(button->parentWidget()) != nullptr)
            return false; // all buttons of a toolbar lie flat until they are used
        QColor fill = down ? colors.color(QPalette::Highlight) : colors.color(QPalette::Button);
        if (down)
            fill.setAlphaF(0.3F);
        else if (option.state.testFlag(State_MouseOver) && option.state.testFlag(State_Enabled))
            fill = fill.lighter(108);
        QColor frame = colors.color(down || option.state.testFlag(State_HasFocus) ? QPalette::Highlight
                                                                                  : QPalette::WindowText);
        if (!down && !option.state.testFlag(State_HasFocus))
            frame.setAlphaF(0.35F);
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(frame, down ? 1.5 : 1));
        painter.setBrush(fill);
        painter.drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), 3, 3);
        painter.restore();
        return true;
    }
};

const QString kDarkKey = QStringLiteral("systemDark");

bool systemIsDark()
{
    static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128; // before we set our own
    const QVariant wish = QSettings().value(kDarkKey);
    return wish.isValid() ? wish.toBool() : dark;
}

} // namespace

AppearanceWatch& AppearanceWatch::instance()
{
    static AppearanceWatch watch;
    return watch;
}

QString appearanceName(Appearance appearance)
{
    switch (appearance) {
    case Appearance::System: return QCoreApplication::translate("Appearance", "Same as the system");
    case Appearance::Light: return QCoreApplication::translate("Appearance", "Light");
    case Appearance::Dark: return QCoreApplication::translate("Appearance", "Dark");
    }
    return {};
}

Appearance storedAppearance()
{
    const QString stored = QSettings().value(QStringLiteral("appearance")).toString();
    return stored == QStringLiteral("light")  ? Appearance::Light
           : stored == QStringLiteral("dark") ? Appearance::Dark
                                              : Appearance::System;
}

void applyAppearance(Appearance appearance)
{
    // First: who follows the palette asks for it.
    QSettings().setValue(QStringLiteral("appearance"), appearance == Appearance::Light  ? QStringLiteral("light")
                                                       : appearance == Appearance::Dark ? QStringLiteral("dark")
                                                                                        : QStringLiteral("system"));
    const bool dark = appearance == Appearance::Dark || (appearance == Appearance::System && systemIsDark());
    if (dynamic_cast<Style*>(QApplication::style()) == nullptr)
        QApplication::setStyle(new Style);
    QApplication::setPalette(dark ? darkPalette() : lightPalette());
    emit AppearanceWatch::instance().changed();
}

void setSystemDark(std::optional<bool> dark)
{
    QSettings settings;
    if (dark)
        settings.setValue(kDarkKey, *dark);
    else
        settings.remove(kDarkKey);
    if (storedAppearance() == Appearance::System)
        applyAppearance(Appearance::System);
}

} // namespace lathe::ui
