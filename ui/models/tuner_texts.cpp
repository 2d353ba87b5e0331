#include "ui/models/tuner_texts.h"

#include <QCoreApplication>

namespace lathe::ui {

namespace {

/// Core's phrases, which stand in its tables of policies and tuners; a test looks whether all of them are here.
[[maybe_unused]] const char* const kPhrases[] = {
    QT_TRANSLATE_NOOP("Tuners", "Lathe's search"),
    QT_TRANSLATE_NOOP("Tuners", "the reference compiler's rules"),
    QT_TRANSLATE_NOOP("Tuners", "no cost model"),
    QT_TRANSLATE_NOOP("Tuners", "schedules with knobs, by a tuner"),
    QT_TRANSLATE_NOOP("Tuners", "all configurations in order"),
    QT_TRANSLATE_NOOP("Tuners", "configurations at random, none twice"),
    QT_TRANSLATE_NOOP("Tuners", "breeding from good configurations"),
    QT_TRANSLATE_NOOP("Tuners", "a Gaussian process that says where most is to be gained, for few trials"),
    QT_TRANSLATE_NOOP("Tuners", "configurations that are random, before there is a model"),
    QT_TRANSLATE_NOOP("Tuners", "results that a model is made of"),
    QT_TRANSLATE_NOOP("Tuners", "of these, results that its scales are fitted to"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that guess throughput, of loops"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that guess throughput, of knobs"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that guess throughput, of curves of reuse"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, of loops"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, of knobs"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, of curves of reuse"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, judged by halves, of loops"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, judged by halves, of knobs"),
    QT_TRANSLATE_NOOP("Tuners", "boosted trees that rank, judged by halves, of curves of reuse"),
    QT_TRANSLATE_NOOP("Tuners", "the first index that is looked at"),
    QT_TRANSLATE_NOOP("Tuners", "the last index that is looked at; -1: that of the space"),
    QT_TRANSLATE_NOOP("Tuners", "configurations of a generation"),
    QT_TRANSLATE_NOOP("Tuners", "best ones that are parents of every generation"),
    QT_TRANSLATE_NOOP("Tuners", "how probably a knob of a child gets a random choice"),
    QT_TRANSLATE_NOOP("Tuners", "configurations that are chosen by one model"),
    QT_TRANSLATE_NOOP("Tuners", "so many times the plan are found, then the most different picked; below 1: not"),
    QT_TRANSLATE_NOOP("Tuners", "share of a plan that is random"),
    QT_TRANSLATE_NOOP("Tuners", "whether it learns from other tasks of the template first"),
    QT_TRANSLATE_NOOP("Tuners", "threads that train the model"),
    QT_TRANSLATE_NOOP("Tuners", "walkers of the annealing"),
    QT_TRANSLATE_NOOP("Tuners", "iterations of the annealing"),
    QT_TRANSLATE_NOOP("Tuners", "iterations without a change after which the annealing ends"),
    QT_TRANSLATE_NOOP("Tuners", "temperature that the annealing begins with"),
    QT_TRANSLATE_NOOP("Tuners", "temperature that it ends with"),
    QT_TRANSLATE_NOOP("Tuners", "whether walkers go on where they stood"),
    QT_TRANSLATE_NOOP("Tuners", "depth of the trees"),
    QT_TRANSLATE_NOOP("Tuners", "what each tree counts"),
    QT_TRANSLATE_NOOP("Tuners", "least gain of a split"),
    QT_TRANSLATE_NOOP("Tuners", "least weight of a leaf"),
    QT_TRANSLATE_NOOP("Tuners", "trees at most"),
};

} // namespace

QString tunerText(const std::string& english)
{
    return english.empty() ? QString() : QCoreApplication::translate("Tuners", english.c_str());
}

} // namespace lathe::ui
