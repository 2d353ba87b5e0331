#include "ui/pages/program_comparison.h"

#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/diff_view.h"
#include "ui/views/spacing.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {

void setItem(QComboBox* box, int index, const QString& text)
{
    if (index < box->count())
        box->setItemText(index, text);
    else
        box->addItem(text);
}

/// Those of all targets, and what back ends call their listings, as far as it is translated.
QString formTitle(const session::ProgramForm& form)
{
    static const std::pair<const char*, const char*> plain[] = {
        {"steps", QT_TRANSLATE_NOOP("lathe::ui::ProgramComparison", "Schedule steps")},
        {"loops", QT_TRANSLATE_NOOP("lathe::ui::ProgramComparison", "Loop tree")},
        {"nest", QT_TRANSLATE_NOOP("lathe::ui::ProgramComparison", "Loop nest")}};
    for (const auto& [name, title] : plain)
        if (form.name == name)
            return QCoreApplication::translate("lathe::ui::ProgramComparison", title);
    return QCoreApplication::translate("Listings", form.title.c_str());
}

} // namespace

ProgramComparison::ProgramComparison(QWidget* parent)
    : QWidget(parent)
    , m_reader(std::make_shared<session::ProgramReader>())
{
    const auto box = [this](const char* name) {
        auto* made = new QComboBox(this);
        made->setObjectName(QLatin1String(name));
        made->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        return made;
    };
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("compareProgramTitle"));
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_title->setWordWrap(true);
    m_left = box("compareLeft");
    m_right = box("compareRight");
    m_what = box("compareWhat");
    m_how = box("compareHow");
    m_onlyChanges = new QCheckBox(this);
    m_onlyChanges->setObjectName(QStringLiteral("compareOnlyChanges"));
    m_onlyChanges->setChecked(true);
    m_diff = new DiffView(this);
    m_diff->setObjectName(QStringLiteral("compareDiff"));
    auto* row = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_left, m_right, m_what, m_how})
        row->addWidget(widget);
    row->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kNone);
    layout->addLayout(row);
    auto* second = new QHBoxLayout;
    second->addWidget(m_title, 1);
    second->addWidget(m_onlyChanges);
    layout->addLayout(second);
    layout->addWidget(m_diff, 1);
    retranslated(this, [this] { retranslate(); });
    for (QComboBox* choice : {m_left, m_right, m_what})
        connect(choice, &QComboBox::currentIndexChanged, this, &ProgramComparison::ask);
    connect(m_how, &QComboBox::currentIndexChanged, this, [this](int how) { m_diff->setSideBySide(how == 0); });
    connect(m_onlyChanges, &QCheckBox::toggled, m_diff, &DiffView::setOnlyChanges);
}

void ProgramComparison::retranslate()
{
    m_left->setAccessibleName(tr("Left side"));
    m_right->setAccessibleName(tr("Right side"));
    m_what->setAccessibleName(tr("Form of the program"));
    m_how->setAccessibleName(tr("Arrangement"));
    setItem(m_how, 0, tr("Side by side"));
    setItem(m_how, 1, tr("Unified"));
    m_onlyChanges->setText(tr("&Differences only"));
    fillForms();
    fillSides();
}

/// What the programs of all that are compared can be read as.
void ProgramComparison::fillForms()
{
    std::vector<std::string> targets;
    for (int i = 0; m_compared != nullptr && i < m_compared->count(); ++i)
        targets.push_back(m_compared->at(i).target);
    const QSignalBlocker blocker(m_what);
    const QString chosen = m_what->currentData().toString();
    m_what->clear();
    for (const session::ProgramForm& form : session::programForms(targets))
        m_what->addItem(formTitle(form), QString::fromStdString(form.name));
    const int again = m_what->findData(chosen);
    m_what->setCurrentIndex(again >= 0 ? again : m_what->findData(QStringLiteral("nest")));
}

void ProgramComparison::fillSides()
{
    const QSignalBlocker noLeft(m_left), noRight(m_right);
    const int left = m_left->currentIndex(), right = m_right->currentIndex();
    m_left->clear();
    m_right->clear();
    for (int i = 0; m_compared != nullptr && i < m_compared->count(); ++i)
        for (QComboBox* box : {m_left, m_right}) {
            box->addItem(QStringLiteral("%1: %2").arg(comparedLetter(i), comparedName(m_compared->at(i).what)));
            box->setItemData(i, comparedColor(i), Qt::DecorationRole);
        }
    // A baseline on the left, the open project on the right, unless something else was chosen.
    m_left->setCurrentIndex(
        left >= 0 && left < m_left->count() && (left > 0 || right > 0) ? left : std::min(1, m_left->count() - 1));
    m_right->setCurrentIndex(right >= 0 && right < m_right->count() ? right : 0);
}

void ProgramComparison::setCompared(std::shared_ptr<const Compared> compared)
{
    m_compared = std::move(compared);
    fillForms();
    fillSides();
    ask();
}

void ProgramComparison::setTask(const QString& key, const QString& name)
{
    m_task = key;
    m_name = name;
    ask();
}

void ProgramComparison::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    ask();
}

void ProgramComparison::ask()
{
    const int left = m_left->currentIndex(), right = m_right->currentIndex();
    if (!isVisible())
        return;
    if (m_compared == nullptr || m_compared->baselines.empty() || m_task.isEmpty() || left < 0 || right < 0) {
        m_asked.drop();
        m_shown.clear();
        m_title->clear();
        m_diff->setMessage(tr("Add a baseline and select a task to see how its programs differ."));
        return;
    }
    const auto trial = [this](int side) {
        for (const session::Standing::Task& task : m_compared->at(side).tasks)
            if (QString::fromStdString(task.key) == m_task)
                return QString::fromStdString(task.trial);
        return QString();
    };
    const std::string form = m_what->currentData().toString().toStdString();
    const QString wanted = QStringLiteral("%1 %2 %3 %4 %5")
                               .arg(m_task, trial(left), trial(right))
                               .arg(m_what->currentData().toString())
                               .arg(left * 100 + right);
    if (wanted == m_shown)
        return;
    m_shown = wanted;
    m_asked.drop();
    m_title->setText(tr("%1: reading both programs…").arg(unbroken(m_name)));
    using Lines = std::vector<session::DiffLine>;
    m_asked = m_jobs.run(
        [reader = m_reader, compared = m_compared, task = m_task.toStdString(), left, right,
         form](const JobLink& link) -> Result<Lines> {
            LATHE_TRY_ASSIGN(const std::string a, reader->text(compared->at(left), task, form));
            if (link.stopToken().stop_requested())
                return Lines();
            LATHE_TRY_ASSIGN(const std::string b, reader->text(compared->at(right), task, form));
            return session::diffLines(a, b);
        },
        [this](Result<Lines> lines) {
            if (!lines) {
                m_title->setText(unbroken(m_name));
                m_diff->setMessage(errorText(lines.error()));
                return;
            }
            m_diff->setLines(*std::move(lines));
            const int removed = m_diff->removed(), added = m_diff->added();
            m_title->setText(removed + added == 0 ? tr("%1: both programs are identical").arg(unbroken(m_name))
                                                  : tr("%1: lines only on the left (−): %2; only on the right (+): %3")
                                                        .arg(unbroken(m_name))
                                                        .arg(removed)
                                                        .arg(added));
        });
}

} // namespace lathe::ui
