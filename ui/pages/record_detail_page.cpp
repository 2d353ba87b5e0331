#include "ui/pages/record_detail_page.h"

#include "ui/models/core_text.h"
#include "ui/models/error_advice.h"
#include "ui/models/failure_model.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/pages/listing_panel.h"
#include "ui/views/code_view.h"
#include "ui/views/spacing.h"
#include "ui/views/write_access.h"

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPointer>
#include <QRegularExpression>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

/// What back ends call their listings, as far as it is translated.
[[maybe_unused]] constexpr const char* kListingTitles[] = {
    QT_TRANSLATE_NOOP("Listings", "LLVM IR"),  QT_TRANSLATE_NOOP("Listings", "Assembly"),
    QT_TRANSLATE_NOOP("Listings", "OpenCL C"), QT_TRANSLATE_NOOP("Listings", "CUDA C++"),
    QT_TRANSLATE_NOOP("Listings", "PTX"),      QT_TRANSLATE_NOOP("Listings", "SASS"),
    QT_TRANSLATE_NOOP("Listings", "Source"),   QT_TRANSLATE_NOOP("Listings", "Expected times")};

/// {"a": 1, "b": {"c": 2}} as rows beneath `parent`; "value" members with their "origin" on one line.
void addJson(QTreeWidgetItem* parent, const QJsonObject& object)
{
    for (auto it = object.begin(); it != object.end(); ++it) {
        if (it->isObject() && it->toObject().contains(QStringLiteral("value"))) {
            const QJsonObject limit = it->toObject();
            new QTreeWidgetItem(parent, {it.key(), QStringLiteral("%1  (%2)")
                                                       .arg(limit[QStringLiteral("value")].toVariant().toString(),
                                                            limit[QStringLiteral("origin")].toString())});
        } else if (it->isObject()) {
            addJson(new QTreeWidgetItem(parent, {it.key()}), it->toObject());
        } else {
            new QTreeWidgetItem(parent, {it.key(), it->toVariant().toString()});
        }
    }
}

QTreeWidget* makeTree(const char* name, QWidget* parent)
{
    auto* tree = new QTreeWidget(parent);
    tree->setObjectName(QLatin1String(name));
    tree->setColumnCount(2);
    tree->setAlternatingRowColors(true);
    tree->setUniformRowHeights(true);
    tree->header()->setSectionResizeMode(QHeaderView::Interactive);
    return tree;
}

} // namespace

RecordDetailPage::RecordDetailPage(QWidget* parent)
    : QWidget(parent)
{
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("recordTitle"));
    m_title->setWordWrap(true);
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("recordTabs"));
    m_tabs->setDocumentMode(true);
    m_overview = makeTree("recordOverview", m_tabs);
    m_tabs->addTab(m_overview, {});
    m_steps = addText("recordSteps");
    m_loops = addText("recordLoops");
    m_nest = addText("recordProgram");
    m_features = makeTree("recordFeatures", m_tabs);
    m_tabs->addTab(m_features, {});
    makeCopyMenu();
    m_note = new QPlainTextEdit(this);
    m_note->setObjectName(QStringLiteral("recordNote"));
    m_note->setTabChangesFocus(true);
    m_note->setFixedHeight(m_note->fontMetrics().lineSpacing() * 2 + 12);
    m_note->installEventFilter(this);
    m_note->setEnabled(false); // shown from the start: what is below it stays in its place
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kMedium, spacing::kNone, spacing::kNone);
    layout->addWidget(m_title);
    layout->addWidget(m_note);
    layout->addWidget(m_tabs, 1);
    connect(m_tabs, &QTabWidget::currentChanged, this, &RecordDetailPage::loadListing);
    retranslated(this, [this] { retranslate(); });
}

void RecordDetailPage::makeCopyMenu()
{
    auto* copy = new QToolButton(m_tabs);
    copy->setObjectName(QStringLiteral("recordCopy"));
    copy->setAutoRaise(true);
    m_tabs->setCornerWidget(copy);
    auto* menu = new QMenu(copy);
    QAction* tab = menu->addAction(QString(), this,
                                   [this] { QApplication::clipboard()->setText(textOf(m_tabs->currentWidget())); });
    QAction* all = menu->addAction(QString(), this, [this] {
        QString text = m_title->text().remove(QRegularExpression(QStringLiteral("<[^>]*>|\u2060"))) + QLatin1Char('\n');
        for (int i = 0; i < m_tabs->count(); ++i)
            if (const QString part = textOf(m_tabs->widget(i)); !part.isEmpty())
                text += QStringLiteral("\n== %1\n").arg(m_tabs->tabText(i)) + part
                        + (part.endsWith(QLatin1Char('\n')) ? QString() : QStringLiteral("\n"));
        QApplication::clipboard()->setText(text);
    });
    tab->setObjectName(QStringLiteral("recordCopyTab"));
    all->setObjectName(QStringLiteral("recordCopyAll"));
    copy->setMenu(menu);
    copy->setPopupMode(QToolButton::MenuButtonPopup);
    connect(copy, &QToolButton::clicked, tab, &QAction::trigger);
    retranslated(copy, [copy, tab, all] {
        copy->setText(tr("Copy"));
        copy->setToolTip(tr("Copy the whole text of this tab"));
        tab->setText(tr("Copy this &tab"));
        all->setText(tr("Copy &everything"));
    });
}

RecordDetailPage::~RecordDetailPage()
{
    m_tabs->disconnect(this);
}

CodeView* RecordDetailPage::addText(const char* name)
{
    auto* text = new CodeView(m_tabs);
    text->setObjectName(QLatin1String(name));
    m_tabs->addTab(text, {});
    return text;
}

/// A tab for each, before the features; those of the same names stay.
void RecordDetailPage::takeListings(const std::vector<ListingKind>& kinds)
{
    const bool same = std::ranges::equal(kinds, m_listings, [](const ListingKind& kind, ListingPanel* panel) {
        return panel->kind().name == kind.name;
    });
    if (same)
        return;
    for (ListingPanel* panel : m_listings)
        delete panel;
    m_listings.clear();
    for (const ListingKind& kind : kinds) {
        auto* panel = new ListingPanel(kind, m_tabs);
        panel->setObjectName(QStringLiteral("recordListing-") + QString::fromStdString(kind.name));
        m_tabs->insertTab(m_tabs->indexOf(m_features), panel, QString());
        m_listings.push_back(panel);
    }
    retranslate();
}

void RecordDetailPage::retranslate()
{
    const std::pair<QWidget*, QString> titles[] = {{m_overview, tr("Overview")},
                                                   {m_steps, tr("Steps")},
                                                   {m_loops, tr("Loops")},
                                                   {m_nest, tr("Program")},
                                                   {m_features, tr("Features")}};
    for (const auto& [widget, title] : titles) {
        m_tabs->setTabText(m_tabs->indexOf(widget), title);
        widget->setAccessibleName(title);
    }
    for (ListingPanel* panel : m_listings)
        m_tabs->setTabText(m_tabs->indexOf(panel),
                           QCoreApplication::translate("Listings", panel->kind().title.c_str()));
    m_note->setPlaceholderText(tr("A note on this trial"));
    m_note->setAccessibleName(tr("A note on this trial"));
    m_note->setToolTip(tr("Saved with the project when you leave the field or press Ctrl+Enter"));
    m_overview->setHeaderLabels({tr("Property"), tr("Value")});
    m_features->setHeaderLabels({tr("Feature"), tr("Value")});
    m_tabs->setTabToolTip(m_tabs->indexOf(m_features), tr("Non-zero reference features of this schedule"));
    if (m_row == 0)
        m_title->setText(tr("Select a trial to see its schedule, program and code."));
    else if (m_detail.row.row == m_row)
        fillOverview(m_detail);
}

void RecordDetailPage::setHistory(std::unique_ptr<session::History> history)
{
    std::unique_ptr<session::History> second = history ? history->again() : nullptr;
    m_reader.setHistory(std::move(history));
    m_lister.setHistory(std::move(second));
    showRow(0);
}

QString RecordDetailPage::textOf(QWidget* tab) const
{
    if (const auto* text = qobject_cast<QPlainTextEdit*>(tab))
        return text->toPlainText();
    if (const auto* panel = qobject_cast<ListingPanel*>(tab))
        return panel->code()->toPlainText();
    auto* tree = qobject_cast<QTreeWidget*>(tab);
    QString lines;
    for (QTreeWidgetItemIterator it(tree); *it != nullptr; ++it)
        lines += (*it)->text(0) + QLatin1Char('\t') + (*it)->text(1) + QLatin1Char('\n');
    return lines;
}

bool RecordDetailPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_note && event->type() == QEvent::FocusOut)
        commitNote();
    if (watched == m_note && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)
            && key->modifiers().testFlag(Qt::ControlModifier)) {
            commitNote();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void RecordDetailPage::commitNote()
{
    if (m_row == 0 || m_detail.row.row != m_row)
        return;
    const QString before = QString::fromStdString(m_detail.row.note), after = m_note->toPlainText().trimmed();
    if (before == after)
        return;
    m_detail.row.note = after.toStdString();
    emit noteEdited(QString::fromStdString(m_detail.row.trial), before, after);
}

void RecordDetailPage::setNote(const QString& trial, const QString& note)
{
    if (m_row == 0 || QString::fromStdString(m_detail.row.trial) != trial)
        return;
    m_detail.row.note = note.toStdString();
    if (m_note->toPlainText().trimmed() != note)
        m_note->setPlainText(note);
}

void RecordDetailPage::setReadOnly(const QString& why)
{
    m_readOnly = why;
    enableToWrite(*m_note, m_row != 0 && m_detail.row.row == m_row, why);
}

void RecordDetailPage::showRow(std::int64_t row)
{
    commitNote();
    m_note->clear();
    m_note->setEnabled(false);
    m_asked.drop();
    m_row = row;
    for (ListingPanel* panel : m_listings) {
        panel->setMessage({});
        panel->setProperty("row", 0);
    }
    if (row == 0) {
        m_detail = {};
        for (CodeView* text : {m_steps, m_loops, m_nest})
            text->setCode({}, QStringLiteral("text"));
        m_overview->clear();
        m_features->clear();
        retranslate();
        return;
    }
    m_asked = m_reader.ask([row](session::History& history, std::stop_token) { return history.detail(row); },
                           [this](Result<session::TrialDetail> detail) {
                               if (detail)
                                   showDetail(*detail);
                               else
                                   m_title->setText(errorText(detail.error()));
                           });
    loadListing();
}

void RecordDetailPage::showDetail(const session::TrialDetail& detail)
{
    m_detail = detail;
    takeListings(detail.listings);
    fillOverview(detail);
    m_note->setPlainText(QString::fromStdString(detail.row.note));
    enableToWrite(*m_note, true, m_readOnly);
    emit shown(QString::fromStdString(detail.row.trial), detail.row.task);
    QStringList steps;
    for (const std::string& step : detail.steps)
        steps << QString::fromStdString(step);
    m_steps->setCode(steps.isEmpty() ? tr("No steps: the loops are those of the definition.")
                                     : steps.join(QLatin1Char('\n')),
                     QStringLiteral("text"));
    const QString problem = coreText(detail.problem, detail.aboutProblem);
    m_loops->setCode(detail.loops.empty() ? problem : QString::fromStdString(detail.loops), QStringLiteral("nest"));
    m_nest->setCode(detail.nest.empty() ? problem : QString::fromStdString(detail.nest), QStringLiteral("nest"));
    loadListing();
    m_features->clear();
    QList<QTreeWidgetItem*> items;
    for (const auto& [name, value] : detail.features)
        items << new QTreeWidgetItem({QString::fromStdString(name), QString::number(value, 'g', 6)});
    m_features->addTopLevelItems(items);
    m_features->resizeColumnToContents(0);
}

void RecordDetailPage::fillOverview(const session::TrialDetail& detail)
{
    const session::TrialRow& row = detail.row;
    const QString task = row.task >= 0 && row.task < m_taskNames.size() ? m_taskNames[row.task]
                                                                        : tr("another network's task");
    const bool valid = row.code == "Ok";
    const ErrorAdvice advice = errorAdvice(QString::fromStdString(row.code));
    m_title->setText(valid
                         ? tr("<b>%1</b> – %2, %3")
                               .arg(unbroken(task).toHtmlEscaped(), msText(row.costMs),
                                    QString::fromStdString(row.alternative).toHtmlEscaped())
                         : tr("<b>%1</b> – %2 while %3")
                               .arg(unbroken(task).toHtmlEscaped(), advice.title, FailureModel::stageText(row.stage)));
    m_overview->clear();
    const auto add = [this](const QString& name, const QString& value) {
        auto* item = new QTreeWidgetItem(m_overview, {name, value});
        item->setToolTip(1, value);
        return item;
    };
    if (!valid) {
        const QString words = coreText(detail.text, detail.aboutText);
        auto* text = add(tr("Text"), words.section(QLatin1Char('\n'), 0, 0));
        text->setToolTip(1, words);
        for (const QString& line : words.split(QLatin1Char('\n')).mid(1))
            new QTreeWidgetItem(text, {QString(), line});
        add(tr("What helps"), advice.advice);
    } else {
        add(tr("Latency"), msText(row.costMs));
        QStringList repeats;
        for (const double ms : detail.repeatsMs)
            repeats << QString::number(ms, 'f', 5);
        add(tr("Repeats (ms)"), repeats.join(QStringLiteral(", ")));
    }
    if (std::isfinite(row.predictedMs)) {
        const QString off = valid ? tr("%1 (the trial: %2 % of it)")
                                        .arg(msText(row.predictedMs))
                                        .arg(100 * row.costMs / row.predictedMs, 0, 'f', 0)
                                  : msText(row.predictedMs);
        add(tr("Predicted"), off);
    }
    add(tr("Outputs checked"), row.verified ? tr("yes, equal to reference") : tr("no"));
    add(tr("Algorithm"), QString::fromStdString(row.alternative));
    add(tr("Sketch"), QString::fromStdString(row.sketch));
    add(tr("Genome"), QString::fromStdString(detail.genome));
    if (!row.repeats.empty())
        add(tr("Repeats"), tr("trial %1").arg(QString::fromStdString(row.repeats)));
    else if (row.run != 0)
        add(tr("Run, round, position"), QStringLiteral("%1, %2, %3").arg(row.run).arg(row.round).arg(row.index));
    if (!detail.repeats.empty()) {
        auto* again = add(tr("Measured again"),
                          detail.repeats.size() == 1 ? tr("once") : tr("%1 times").arg(detail.repeats.size()));
        for (const session::TrialRow& repeat : detail.repeats) {
            const QString time =
                QDateTime::fromMSecsSinceEpoch(repeat.timeMs).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
            new QTreeWidgetItem(again,
                                {time, repeat.code == "Ok" ? msText(repeat.costMs)
                                                           : errorAdvice(QString::fromStdString(repeat.code)).title});
        }
        again->setExpanded(true);
    }
    add(tr("Time"), QDateTime::fromMSecsSinceEpoch(row.timeMs).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")));
    add(tr("Trial"), QString::fromStdString(row.trial));
    add(tr("Candidate"), QString::fromStdString(detail.candidate));
    auto* durations = add(tr("Time spent (ms)"), QString());
    for (const auto& [name, ms] : detail.durationsMs)
        new QTreeWidgetItem(durations, {QString::fromStdString(name), QString::number(ms, 'f', 2)});
    addJson(add(tr("Conditions"), QString()),
            QJsonDocument::fromJson(QByteArray::fromStdString(detail.conditions)).object());
    addJson(add(tr("Device"), QString()), QJsonDocument::fromJson(QByteArray::fromStdString(detail.device)).object());
    durations->setExpanded(true);
    m_overview->resizeColumnToContents(0);
    m_overview->setAccessibleDescription(m_title->text());
}

void RecordDetailPage::loadListing()
{
    auto* panel = qobject_cast<ListingPanel*>(m_tabs->currentWidget());
    if (m_row == 0 || panel == nullptr || panel->property("row").toLongLong() == m_row)
        return;
    panel->setProperty("row", static_cast<qlonglong>(m_row));
    panel->setMessage(tr("Compiling…"));
    m_lister.ask([row = m_row, name = panel->kind().name](session::History& history,
                                                          std::stop_token) { return history.listing(row, name); },
                 [panel = QPointer<ListingPanel>(panel), row = m_row](Result<session::Listing> listing) {
                     if (panel == nullptr || panel->property("row").toLongLong() != row)
                         return;
                     if (listing)
                         panel->setListing(*std::move(listing));
                     else
                         panel->setMessage(errorText(listing.error()));
                 });
}

} // namespace lathe::ui
