// The first phase selects within each class, the second one puts what was selected behind one another.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"
#include "core/runtime/functions/select.h"

using namespace lathe;
using namespace lathe::runtime;

namespace {

struct Candidate
{
    std::uint64_t score; ///< in the order of scores
    std::int64_t box;
};
static_assert(sizeof(Candidate) == kSelectionBytes);

struct Rectangle
{
    float left, right, top, bottom;
    float area() const { return (right - left) * (bottom - top); }
};

float lower(float a, float b)
{
    return a < b ? a : b;
}
float higher(float a, float b)
{
    return a > b ? a : b;
}

Rectangle rectangleOf(const float* box, bool center)
{
    if (center)
        return {box[0] - box[2] / 2, box[0] + box[2] / 2, box[1] - box[3] / 2, box[1] + box[3] / 2};
    return {lower(box[1], box[3]), higher(box[1], box[3]), lower(box[0], box[2]), higher(box[0], box[2])};
}

/// By more than `most`.
bool overlap(const Rectangle& a, const Rectangle& b, float most)
{
    const Rectangle common{higher(a.left, b.left), lower(a.right, b.right), higher(a.top, b.top),
                           lower(a.bottom, b.bottom)};
    if (!(common.right > common.left) || !(common.bottom > common.top))
        return false;
    const float intersection = common.area(), both = a.area() + b.area() - intersection;
    return intersection > 0 && a.area() > 0 && b.area() > 0 && both > 0 && intersection / both > most;
}

/// What is selected of one class of one batch: how many, then the boxes.
std::int64_t* selectedOf(const LatheArgs* args, const NonMaxSuppressionParameters& p, std::int64_t unit)
{
    return static_cast<std::int64_t*>(args->teamScratch) + unit * (1 + p.perClass);
}

} // namespace

std::int32_t lathe_0_non_max_suppression_select(const LatheArgs* args, void* partScratch, std::uint32_t part,
                                                std::uint32_t parts)
{
    const auto& p = *static_cast<const NonMaxSuppressionParameters*>(args->tensors[0]);
    const auto* const boxes = static_cast<const float*>(args->tensors[1]);
    const auto* const scores = static_cast<const float*>(args->tensors[2]);
    const std::int64_t wanted = *static_cast<const std::int64_t*>(args->tensors[3]);
    const std::int64_t most = wanted < p.perClass ? wanted : p.perClass;
    const float overlapLimit = *static_cast<const float*>(args->tensors[4]);
    const float scoreLimit = *static_cast<const float*>(args->tensors[5]);
    const std::int64_t given = *static_cast<const std::int64_t*>(args->tensors[6]);
    const std::int64_t existing = given < p.boxes ? given : p.boxes;
    auto* const candidates = static_cast<Candidate*>(partScratch);
    const Share share(p.batches * p.classes, part, parts);
    for (std::int64_t unit = share.first; unit < share.last; ++unit) {
        const float* const own = boxes + unit / p.classes * p.boxes * 4;
        std::int64_t count = 0;
        for (std::int64_t k = 0; k < existing; ++k)
            if (const float score = scores[unit * p.boxes + k]; p.hasScore == 0 || score > scoreLimit)
                candidates[count++] = {orderOf(score), k};
        sortEntries(candidates, count, [](const Candidate& a, const Candidate& b) {
            return a.score != b.score ? a.score > b.score : a.box < b.box;
        });
        std::int64_t* const selected = selectedOf(args, p, unit);
        std::int64_t found = 0;
        for (std::int64_t k = 0; k < count && found < most; ++k) {
            const Rectangle next = rectangleOf(own + candidates[k].box * 4, p.center != 0);
            bool free = true;
            for (std::int64_t s = 0; s < found && free; ++s)
                free = !overlap(next, rectangleOf(own + selected[1 + s] * 4, p.center != 0), overlapLimit);
            if (free)
                selected[1 + found++] = candidates[k].box;
        }
        selected[0] = found;
    }
    return 0;
}

std::int32_t lathe_0_non_max_suppression(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    if (part != 0) // a few numbers
        return 0;
    const auto& p = *static_cast<const NonMaxSuppressionParameters*>(args->tensors[0]);
    auto* const out = static_cast<std::int64_t*>(args->tensors[7]);
    std::int64_t total = 0;
    for (std::int64_t unit = 0; unit < p.batches * p.classes; ++unit) {
        const std::int64_t* const selected = selectedOf(args, p, unit);
        for (std::int64_t s = 0; s < selected[0]; ++s, ++total) {
            out[total * 3] = unit / p.classes;
            out[total * 3 + 1] = unit % p.classes;
            out[total * 3 + 2] = selected[1 + s];
        }
    }
    for (std::int64_t i = total * 3; i < p.batches * p.classes * p.perClass * 3; ++i)
        out[i] = 0;
    *static_cast<std::int64_t*>(args->tensors[8]) = total;
    return 0;
}
