#include "ui/dialogs/manual_window.h"

#include "ui/commands/action_catalog.h"
#include "ui/models/language.h"
#include "ui/models/option_list.h"
#include "ui/models/texts.h"
#include "ui/views/spacing.h"

#include <QAction>
#include <QDesktopServices>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScreen>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextTable>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {

constexpr const char* kTopicProperty = "manualTopic";
constexpr int kTopicRole = Qt::UserRole;

QUrl urlOf(const QString& id)
{
    return QUrl(QStringLiteral("manual:/%1.md").arg(id));
}

/// Also of a link, which names the topic alone.
QString topicIn(const QUrl& url)
{
    const QString file = url.path().section(QLatin1Char('/'), -1);
    return file.endsWith(QStringLiteral(".md")) ? file.chopped(3) : QString();
}

/// Reads the topics of the manual where a link, or the way back, asks for them.
class TopicBrowser final : public QTextBrowser
{
public:
    TopicBrowser(const Manual& manual, QWidget* parent)
        : QTextBrowser(parent)
        , m_manual(manual)
    {
    }

protected:
    QVariant loadResource(int type, const QUrl& name) override
    {
        if (name.scheme() != QStringLiteral("manual"))
            return QTextBrowser::loadResource(type, name);
        const Manual::Topic* topic = m_manual.find(topicIn(name));
        return topic == nullptr ? QVariant() : QVariant(topic->text);
    }

private:
    const Manual& m_manual;
};

} // namespace

ManualWindow::ManualWindow(const ActionCatalog& actions, QWidget* parent)
    : QDialog(parent, Qt::Window)
    , m_actions(actions)
{
    setObjectName(QStringLiteral("manualWindow"));
    m_search = new QLineEdit(this);
    m_search->setObjectName(QStringLiteral("manualSearch"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_found = new QLabel(this);
    m_found->setObjectName(QStringLiteral("manualFound"));
    m_found->hide();
    m_contents = new QTreeWidget(this);
    m_contents->setObjectName(QStringLiteral("manualContents"));
    m_contents->setHeaderHidden(true);
    m_contents->setUniformRowHeights(true);
    m_contents->setTabKeyNavigation(false);
    m_text = new TopicBrowser(m_manual, this);
    m_text->setObjectName(QStringLiteral("manualText"));
    m_text->setOpenExternalLinks(true);
    m_text->document()->setDocumentMargin(12);
    m_text->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
    m_back = new QToolButton(this);
    m_back->setObjectName(QStringLiteral("manualBack"));
    m_back->setArrowType(Qt::LeftArrow);
    m_forward = new QToolButton(this);
    m_forward->setObjectName(QStringLiteral("manualForward"));
    m_forward->setArrowType(Qt::RightArrow);
    for (QToolButton* button : {m_back, m_forward}) {
        button->setEnabled(false);
        button->setFocusPolicy(Qt::StrongFocus);
    }
    auto* row = new QHBoxLayout;
    row->addWidget(m_back);
    row->addWidget(m_forward);
    row->addWidget(m_search, 1);
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    column->addLayout(row);
    column->addWidget(m_found);
    column->addWidget(m_contents, 1);
    auto* splitter = new QSplitter(this);
    splitter->addWidget(side);
    splitter->addWidget(m_text);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({230, 600});
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kMedium, spacing::kMedium, spacing::kMedium, spacing::kMedium);
    layout->addWidget(splitter);
    resize(QSize(860, 600).boundedTo(screen()->availableSize() * 0.9));

    connect(m_back, &QToolButton::clicked, m_text, &QTextBrowser::backward);
    connect(m_forward, &QToolButton::clicked, m_text, &QTextBrowser::forward);
    connect(m_text, &QTextBrowser::backwardAvailable, m_back, &QWidget::setEnabled);
    connect(m_text, &QTextBrowser::forwardAvailable, m_forward, &QWidget::setEnabled);
    for (const auto& [keys, slot] : {std::pair{QKeySequence::Back, &QTextBrowser::backward},
                                     std::pair{QKeySequence::Forward, &QTextBrowser::forward}})
        connect(new QShortcut(QKeySequence(keys), this), &QShortcut::activated, m_text, slot);
    connect(new QShortcut(QKeySequence(QKeySequence::Find), this), &QShortcut::activated, this, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
    connect(m_text, &QTextBrowser::sourceChanged, this, [this](const QUrl& url) {
        const QSignalBlocker quiet(m_contents);
        for (QTreeWidgetItemIterator it(m_contents); *it != nullptr; ++it)
            if ((*it)->data(0, kTopicRole).toString() == topicIn(url))
                m_contents->setCurrentItem(*it);
        formatTables();
        mark();
    });
    connect(m_contents, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        if (item != nullptr)
            m_text->setSource(urlOf(item->data(0, kTopicRole).toString()));
    });
    connect(m_search, &QLineEdit::textChanged, this, &ManualWindow::search);
    retranslated(this, [this] {
        setWindowTitle(tr("Manual – Lathe"));
        m_search->setPlaceholderText(tr("Search the manual"));
        m_search->setAccessibleName(tr("Search the manual"));
        m_contents->setAccessibleName(tr("Contents"));
        m_text->setAccessibleName(tr("Text of the manual"));
        m_back->setToolTip(tr("Back (Alt+Left)"));
        m_back->setAccessibleName(tr("Back"));
        m_forward->setToolTip(tr("Forward (Alt+Right)"));
        m_forward->setAccessibleName(tr("Forward"));
        read();
    });
    m_contents->setFocus();
}

void ManualWindow::read()
{
    const QString at = topic();
    m_manual = Manual::load(Language::instance().current());
    m_manual.setText(QStringLiteral("keys"), keysText());
    m_manual.setText(QStringLiteral("options"), optionList());
    fillContents();
    search();
    if (at.isEmpty())
        showTopic(QStringLiteral("welcome"));
    else
        m_text->reload();
}

QString ManualWindow::keysText() const
{
    QString text = QStringLiteral("| %1 | %2 |\n|---|---|\n").arg(tr("Command"), tr("Keys"));
    for (const QAction* action : m_actions.all())
        text += QStringLiteral("| %1 | %2 |\n")
                    .arg(withoutMnemonic(action->text()).replace(QLatin1Char('|'), QLatin1String("\\|")),
                         QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText));
    return text;
}

void ManualWindow::fillContents()
{
    const QSignalBlocker quiet(m_contents);
    m_contents->clear();
    QTreeWidgetItem* parent = nullptr;
    for (const Manual::Topic& topic : m_manual.topics()) {
        auto* item = topic.level == 2 && parent != nullptr ? new QTreeWidgetItem(parent)
                                                           : new QTreeWidgetItem(m_contents);
        if (topic.level == 1)
            parent = item;
        item->setText(0, topic.title);
        item->setData(0, kTopicRole, topic.id);
    }
    m_contents->expandAll();
}

void ManualWindow::search()
{
    const QString words = m_search->text().trimmed();
    const auto found = m_manual.search(words);
    for (QTreeWidgetItemIterator it(m_contents); *it != nullptr; ++it) {
        const QString id = (*it)->data(0, kTopicRole).toString();
        const bool hit = words.isEmpty() || std::any_of(found.begin(), found.end(), [&](std::size_t i) {
                             return m_manual.topics()[i].id == id;
                         });
        (*it)->setHidden(!hit);
        (*it)->setDisabled(false);
        for (QTreeWidgetItem* above = (*it)->parent(); hit && above != nullptr; above = above->parent())
            above->setHidden(false);
    }
    m_found->setVisible(!words.isEmpty());
    m_found->setText(found.empty() ? tr("Nothing found") : tr("Topics found: %1").arg(found.size()));
    mark();
}

void ManualWindow::formatTables()
{
    for (QTextFrame* frame : m_text->document()->rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (table == nullptr)
            continue;
        QTextTableFormat format = table->format();
        format.setBorderCollapse(true);
        format.setBorder(1);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(palette().mid());
        format.setCellPadding(4);
        format.setTopMargin(8);
        format.setBottomMargin(8);
        table->setFormat(format);
    }
}

void ManualWindow::mark()
{
    QList<QTextEdit::ExtraSelection> marks;
    for (const QString& word : m_search->text().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        QTextCursor at(m_text->document());
        while (!(at = m_text->document()->find(word, at)).isNull()) {
            QTextEdit::ExtraSelection mark;
            mark.cursor = at;
            mark.format.setBackground(palette().highlight());
            mark.format.setForeground(palette().highlightedText());
            marks << mark;
        }
    }
    m_text->setExtraSelections(marks);
    if (!marks.isEmpty()) {
        QTextCursor first = marks.first().cursor;
        first.setPosition(first.selectionStart());
        m_text->setTextCursor(first);
        m_text->ensureCursorVisible();
    }
}

void ManualWindow::showTopic(const QString& id)
{
    m_text->setSource(urlOf(m_manual.find(id) == nullptr ? QStringLiteral("welcome") : id));
}

QString ManualWindow::topic() const
{
    return topicIn(m_text->source());
}

bool ManualWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_search && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            if (const auto found = m_manual.search(m_search->text()); !found.empty())
                showTopic(m_manual.topics()[found.front()].id);
            return true;
        }
        if (key->key() == Qt::Key_Escape && !m_search->text().isEmpty()) {
            m_search->clear();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void ManualWindow::changeEvent(QEvent* event)
{
    QDialog::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_text != nullptr && !topic().isEmpty())
        m_text->reload(); // links keep the colour that they were read with
}

void ManualWindow::setTopic(QWidget* widget, const QString& id)
{
    widget->setProperty(kTopicProperty, id);
}

QString ManualWindow::topicOf(const QWidget* widget)
{
    for (; widget != nullptr; widget = widget->parentWidget())
        if (const QVariant id = widget->property(kTopicProperty); id.isValid())
            return id.toString();
    return {};
}

} // namespace lathe::ui
