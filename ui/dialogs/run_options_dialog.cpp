#include "ui/dialogs/run_options_dialog.h"

#include "core/session/options/tune_options.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/tuner_parameter_model.h"
#include "ui/models/tuner_texts.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kManyTrials = 1'000'000'000;

/// "conv2d, dense" or "0 3 7", one by one.
std::vector<std::string> wordsIn(const QString& text)
{
    static const QRegularExpression between(QStringLiteral("[\\s,;]+"));
    std::vector<std::string> words;
    for (const QString& word : text.split(between, Qt::SkipEmptyParts))
        words.push_back(word.toStdString());
    return words;
}

/// "ga – breeding from good configurations"
QString described(const std::string& name, const std::string& help)
{
    const QString meaning = tunerText(help), text = QString::fromStdString(name);
    return meaning.isEmpty() ? text : QStringLiteral("%1 – %2").arg(text, meaning);
}

QString listOf(const std::vector<std::string>& words)
{
    QStringList list;
    for (const std::string& word : words)
        list << QString::fromStdString(word);
    return list.join(QStringLiteral(", "));
}

} // namespace

RunOptionsDialog::RunOptionsDialog(const session::TuneOptions& usual, const session::SearchChoice& choice, int tasks,
                                   QWidget* parent)
    : QDialog(parent)
    , m_usual(usual)
    , m_taskCount(tasks)
    , m_policies(session::listPolicies())
    , m_tuners(session::listTuners())
{
    setObjectName(QStringLiteral("runOptionsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    makeWidgets();
    fillLists(choice);
    connect(m_policy, &QComboBox::currentIndexChanged, this, &RunOptionsDialog::onPolicy);
    connect(m_preset, &QComboBox::activated, this, &RunOptionsDialog::onPreset);
    connect(m_tuner, &QComboBox::currentIndexChanged, this, [this] {
        showTuner({});
        refresh();
    });
    for (QLineEdit* field : {m_operators, m_tasks})
        connect(field, &QLineEdit::textChanged, this, &RunOptionsDialog::refresh);
    connect(m_parameters, &QAbstractItemModel::dataChanged, this, &RunOptionsDialog::refresh);
    connect(m_ok, &QPushButton::clicked, this, &RunOptionsDialog::confirm);
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::close);
    connect(m_restore, &QPushButton::clicked, this, &RunOptionsDialog::restoreUsual);
    retranslated(this, [this] { retranslate(); });
    resize(QSize(760, 640).boundedTo(screen()->availableSize() * 0.9));
}

void RunOptionsDialog::addRow(QFormLayout& form, const char* label, QWidget* field, QWidget* below)
{
    auto* name = new QLabel(this);
    name->setBuddy(field);
    retranslated(name, [name, field, label] {
        name->setText(tr(label));
        QString plain = tr(label);
        field->setAccessibleName(plain.remove(QLatin1Char('&')).remove(QLatin1Char(':')));
    });
    form.addRow(name, field);
    if (below != nullptr)
        form.addRow(QString(), below);
}

void RunOptionsDialog::makeWidgets()
{
    const auto box = [this](const char* name) {
        auto* made = new QComboBox(this);
        made->setObjectName(QLatin1String(name));
        return made;
    };
    const auto help = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        return made;
    };
    const auto line = [this](const char* name) {
        auto* made = new QLineEdit(this);
        made->setObjectName(QLatin1String(name));
        made->setClearButtonEnabled(true);
        return made;
    };
    m_policy = box("runPolicy");
    m_preset = box("runPreset");
    m_tuner = box("runTuner");
    m_presetHelp = help("runPresetHelp");
    m_tunerHelp = help("runTunerHelp"); // what is wrong with it
    m_problem = help("runOptionsProblem");
    m_parameters = new TunerParameterModel(this);
    m_table = new TableView("tunerParameters", this);
    m_table->setModel(m_parameters);
    m_table->setEditTriggers(QAbstractItemView::AllEditTriggers);
    const int widths[] = {150, 80, 80, 110, 300};
    for (int column = 0; column < TunerParameterModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->restoreColumns();
    m_earlyStop = new QSpinBox(this);
    m_earlyStop->setObjectName(QStringLiteral("runEarlyStop"));
    m_earlyStop->setRange(0, kManyTrials);
    m_operators = line("runOperators");
    m_tasks = line("runTasks");
    auto* form = new QFormLayout;
    addRow(*form, QT_TR_NOOP("&Policy:"), m_policy);
    addRow(*form, QT_TR_NOOP("P&reset:"), m_preset, m_presetHelp);
    addRow(*form, QT_TR_NOOP("&Tuner:"), m_tuner, m_tunerHelp);
    form->addRow(m_table);
    addRow(*form, QT_TR_NOOP("&Leave a task after:"), m_earlyStop);
    addRow(*form, QT_TR_NOOP("Only these &operators:"), m_operators);
    addRow(*form, QT_TR_NOOP("Only these task &numbers:"), m_tasks);
    m_ok = new QPushButton(this);
    m_ok->setObjectName(QStringLiteral("runOptionsOk"));
    m_ok->setDefault(true);
    m_cancel = new QPushButton(this);
    m_cancel->setObjectName(QStringLiteral("runOptionsCancel"));
    m_restore = new QPushButton(this);
    m_restore->setObjectName(QStringLiteral("runOptionsUsual"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_restore);
    buttons->addStretch(1);
    buttons->addWidget(m_ok);
    buttons->addWidget(m_cancel);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form, 1);
    layout->addWidget(m_problem);
    layout->addLayout(buttons);
}

void RunOptionsDialog::fillLists(const session::SearchChoice& choice)
{
    for (const session::PolicyView& policy : m_policies)
        m_policy->addItem(QString(), QString::fromStdString(policy.name));
    m_preset->addItem(QString(), QString());
    for (const std::string& preset : session::presetNames())
        m_preset->addItem(QString::fromStdString(preset), QString::fromStdString(preset));
    m_tuner->addItem(QString(), QString());
    for (const session::TunerView& tuner : m_tuners)
        m_tuner->addItem(QString(), QString::fromStdString(tuner.name));
    m_policy->setCurrentIndex(std::max(0, m_policy->findData(QString::fromStdString(choice.policy))));
    m_preset->setCurrentIndex(std::max(0, m_preset->findData(QString::fromStdString(choice.preset))));
    m_tuner->setCurrentIndex(std::max(0, m_tuner->findData(QString::fromStdString(choice.tuner))));
    m_earlyStop->setValue(static_cast<int>(std::min<std::int64_t>(choice.earlyStopPerTask, kManyTrials)));
    m_operators->setText(listOf(choice.operators));
    m_tasks->setText(listOf(choice.tasks));
    showTuner(choice.tunerSettings);
}

const session::PolicyView& RunOptionsDialog::policy() const
{
    return m_policies[static_cast<std::size_t>(std::max(0, m_policy->currentIndex()))];
}

/// Where none is named: that of the preset, else the default.
std::string RunOptionsDialog::usualTuner() const
{
    session::TuneOptions options;
    options.preset = m_preset->currentData().toString().toStdString();
    options = session::withPreset(std::move(options));
    if (!options.tuner.empty())
        return options.tuner;
    const auto usual = std::find_if(m_tuners.begin(), m_tuners.end(), [](const auto& tuner) { return tuner.usual; });
    return usual == m_tuners.end() ? std::string() : usual->name;
}

const session::TunerView& RunOptionsDialog::tunerNamed(const std::string& name) const
{
    const auto found = std::find_if(m_tuners.begin(), m_tuners.end(),
                                    [&name](const auto& tuner) { return tuner.name == name; });
    return found == m_tuners.end() ? m_tuners.front() : *found;
}

const session::TunerView& RunOptionsDialog::tuner() const
{
    const std::string said = m_tuner->currentData().toString().toStdString();
    return tunerNamed(said.empty() ? usualTuner() : said);
}

void RunOptionsDialog::showTuner(const std::vector<std::string>& settings)
{
    m_parameters->setTuner(tuner().parameters, settings);
}

/// A preset sets the policy, too: with another one it is left, and takes its early stop with it.
void RunOptionsDialog::onPolicy()
{
    session::TuneOptions preset;
    preset.preset = m_preset->currentData().toString().toStdString();
    preset = session::withPreset(std::move(preset));
    if (!preset.preset.empty() && preset.policy != policy().name) {
        m_preset->setCurrentIndex(0);
        if (m_earlyStop->value() == preset.earlyStopPerTask)
            m_earlyStop->setValue(0);
    }
    refresh();
}

/// A preset is for templates; its early stop is shown where a person may change it.
void RunOptionsDialog::onPreset()
{
    session::TuneOptions preset;
    preset.preset = m_preset->currentData().toString().toStdString();
    preset = session::withPreset(std::move(preset));
    if (!preset.preset.empty())
        m_policy->setCurrentIndex(std::max(0, m_policy->findData(QString::fromStdString(preset.policy))));
    m_earlyStop->setValue(static_cast<int>(preset.earlyStopPerTask));
    m_tuner->setCurrentIndex(0);
    showTuner({});
    refresh();
}

void RunOptionsDialog::restoreUsual()
{
    const session::SearchChoice usual;
    m_policy->setCurrentIndex(std::max(0, m_policy->findData(QString::fromStdString(usual.policy))));
    m_preset->setCurrentIndex(0);
    onPreset();
    m_operators->clear();
    m_tasks->clear();
    refresh();
}

session::SearchChoice RunOptionsDialog::choice() const
{
    session::SearchChoice made;
    made.policy = policy().name;
    made.operators = wordsIn(m_operators->text());
    made.tasks = wordsIn(m_tasks->text());
    made.earlyStopPerTask = m_earlyStop->value();
    if (!policy().takesTuner)
        return made; // of another policy they would mean nothing
    made.preset = m_preset->currentData().toString().toStdString();
    made.tuner = m_tuner->currentData().toString().toStdString();
    made.tunerSettings = m_parameters->settings();
    return made;
}

/// Why no run could follow; empty: one can.
QString RunOptionsDialog::problem() const
{
    const session::SearchChoice made = choice();
    for (const std::string& task : made.tasks) {
        bool good = false;
        const int number = QString::fromStdString(task).toInt(&good);
        if (!good || number < 0 || number >= m_taskCount)
            return tr("%1 is not the number of a task: they go from 0 to %2")
                .arg(QString::fromStdString(task))
                .arg(m_taskCount - 1);
    }
    if (policy().takesTuner && !m_parameters->problem().isEmpty())
        return m_parameters->problem();
    session::TuneOptions options = session::withSearch(m_usual, made);
    if (!options.headStart.empty() && options.policy != m_usual.policy)
        options.headStart.clear();
    const auto checked = session::check(options);
    return checked ? QString() : errorText(checked.error());
}

void RunOptionsDialog::refresh()
{
    const bool templates = policy().takesTuner;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_tuner, m_table})
        widget->setEnabled(templates);
    const std::string preset = m_preset->currentData().toString().toStdString();
    QStringList words;
    for (const std::string& word : session::presetWords(preset))
        words << (word.starts_with("--") && !words.isEmpty() ? QStringLiteral(", ") : QStringLiteral(" "))
                     + QString::fromStdString(word);
    m_presetHelp->setText(
        preset.empty()
            ? tr("Presets tune templates as the tutorials of the reference compiler do.")
            : tr("Sets%1. What was set otherwise for this project's runs stays.").arg(words.join(QString())));
    const session::TunerView& unnamed = tunerNamed(usualTuner());
    const QString usual = described(unnamed.name, unnamed.help);
    m_tuner->setItemText(0, preset.empty() ? tr("the usual one: %1").arg(usual) : tr("the preset's: %1").arg(usual));
    m_tunerHelp->setVisible(!templates);
    const QString why = problem();
    m_problem->setText(why);
    m_ok->setEnabled(why.isEmpty());
}

void RunOptionsDialog::retranslate()
{
    setWindowTitle(tr("Run options"));
    for (std::size_t i = 0; i < m_policies.size(); ++i)
        m_policy->setItemText(static_cast<int>(i), described(m_policies[i].name, m_policies[i].help));
    for (std::size_t i = 0; i < m_tuners.size(); ++i)
        m_tuner->setItemText(static_cast<int>(i) + 1, described(m_tuners[i].name, m_tuners[i].help));
    m_tunerHelp->setText(tr("Only the policy template has a tuner."));
    m_preset->setItemText(0, tr("none"));
    m_table->setAccessibleName(tr("Parameters of the tuner"));
    m_earlyStop->setSpecialValueText(tr("never"));
    m_earlyStop->setSuffix(tr(" trials without a gain"));
    m_operators->setPlaceholderText(tr("all, or for instance conv2d, dense"));
    m_operators->setToolTip(tr("Other tasks are measured once as they are without tuning"));
    m_tasks->setPlaceholderText(tr("all, or for instance 0, 3"));
    m_tasks->setToolTip(m_operators->toolTip());
    m_ok->setText(tr("&OK"));
    m_cancel->setText(tr("&Cancel"));
    m_restore->setText(tr("&Usual options"));
    m_restore->setToolTip(tr("The options of a run for which nothing was chosen"));
    refresh();
}

void RunOptionsDialog::confirm()
{
    if (!problem().isEmpty())
        return;
    emit chosen(choice());
    close();
}

} // namespace lathe::ui
