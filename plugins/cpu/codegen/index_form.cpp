#include "plugins/cpu/codegen/index_form.h"

#include <algorithm>

namespace lathe::cpu {

bool IndexForm::laneStride(std::int64_t& stride) const
{
    stride = lanes.size() > 1 ? lanes[1] - lanes[0] : 0;
    for (std::size_t i = 1; i < lanes.size(); ++i)
        if (lanes[i] - lanes[i - 1] != stride)
            return false;
    return true;
}

void IndexForm::normalize()
{
    if (lanes.empty())
        return;
    if (std::all_of(lanes.begin(), lanes.end(), [&](std::int64_t v) { return v == lanes.front(); })) {
        constant += lanes.front();
        lanes.clear();
    }
}

IndexForm add(const IndexForm& a, const IndexForm& b, std::int64_t scaleB)
{
    IndexForm sum;
    sum.constant = a.constant + b.constant * scaleB;
    sum.terms.reserve(a.terms.size() + b.terms.size());
    auto ia = a.terms.begin();
    auto ib = b.terms.begin();
    while (ia != a.terms.end() || ib != b.terms.end()) {
        IndexForm::Term term;
        if (ib == b.terms.end() || (ia != a.terms.end() && ia->atom < ib->atom)) {
            term = *ia++;
        } else if (ia == a.terms.end() || ib->atom < ia->atom) {
            term = {ib->atom, ib->coefficient * scaleB};
            ++ib;
        } else {
            term = {ia->atom, ia->coefficient + ib->coefficient * scaleB};
            ++ia;
            ++ib;
        }
        if (term.coefficient != 0)
            sum.terms.push_back(term);
    }
    if (a.lanes.empty() && b.lanes.empty())
        return sum;
    sum.lanes.resize(std::max(a.lanes.size(), b.lanes.size()));
    for (std::size_t i = 0; i < sum.lanes.size(); ++i)
        sum.lanes[i] = (a.lanes.empty() ? 0 : a.lanes[i]) + (b.lanes.empty() ? 0 : b.lanes[i] * scaleB);
    sum.normalize();
    return sum;
}

IndexForm scale(const IndexForm& a, std::int64_t factor)
{
    return add(IndexForm{}, a, factor);
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    const std::int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

DividedForm divideExactPart(const IndexForm& a, std::int64_t divisor)
{
    DividedForm out;
    for (const IndexForm::Term& term : a.terms) {
        const std::int64_t q = floorDivide(term.coefficient, divisor);
        if (term.coefficient % divisor == 0)
            out.quotient.terms.push_back({term.atom, q});
        else
            out.remainder.terms.push_back(term);
    }
    out.quotient.constant = floorDivide(a.constant, divisor);
    out.remainder.constant = a.constant - out.quotient.constant * divisor;
    out.remainder.lanes = a.lanes;
    return out;
}

} // namespace lathe::cpu
