"""The curves as SVG, a panel per network: minutes to the right, milliseconds up, on a scale of powers."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 380  # of a panel, with its margins
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 40, 48
COLOURS = ["#1f6fd6", "#7a9cc6", "#d1602a", "#3a8f57", "#8a5bb0", "#b08a1e"]  # by the order of the tuners
LINES = "#666666"


def ticks(low, high):
    """1, 2 and 5 times powers of ten, from below `low` to above `high`."""
    steps = [m * 10.0 ** e for e in range(-3, 7) for m in (1, 2, 5)]
    first = max((i for i, s in enumerate(steps) if s <= low), default=0)
    last = min((i for i, s in enumerate(steps) if s >= high), default=len(steps) - 1)
    return steps[first:max(last, first + 1) + 1]


def spread(wanted, least, low, high):
    """Heights of labels: near those wanted, `least` apart, between `low` and `high`."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = list(wanted)
    floor = low
    for i in order:
        placed[i] = max(wanted[i], floor)
        floor = placed[i] + least
    ceiling = high
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - least
    return placed


def panel(what, minutes, offset):
    end = minutes[-1]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    curves = []
    known = [ms for *_, dots in what["curves"] for _, ms in dots] + [ms for _, ms in what["lines"]]
    most = 3 * max(known, default=math.inf)  # while it lacks trials of some tasks, MetaSchedule's estimate is far beyond
    for i, (name, points, seconds, dots) in enumerate(what["curves"]):
        shown = [(at / 60, ms) for at, ms, _ in points if at <= end * 60 and ms <= most]
        curves.append((COLOURS[i % len(COLOURS)], name, shown, min(seconds / 60, end), dots, seconds / 60 <= end + 0.5))
    values = [ms for _, _, shown, *_ in curves for _, ms in shown] + [ms for _, ms in what["lines"]]
    values += [ms for *_, dots, _ in curves for _, ms in dots]
    scale = ticks(min(values), max(values)) if values else [1, 10]
    span = math.log(scale[-1] / scale[0])
    x = lambda minute: LEFT + (right - LEFT) * minute / end
    y = lambda ms: bottom - (bottom - TOP) * math.log(ms / scale[0]) / span
    out = [f'<g transform="translate(0 {offset})">',
           f'<text x="{LEFT}" y="22" font-size="15" font-weight="600">{escape(what["title"])}</text>']
    for value in scale:
        out.append(f'<path d="M{LEFT} {y(value):.1f}H{right}" stroke="#e3e3e3"/>'
                   f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for minute in minutes:
        out.append(f'<path d="M{x(minute):.1f} {TOP}V{bottom}" stroke="#f0f0f0"/>'
                   f'<text x="{x(minute):.1f}" y="{bottom + 18}" text-anchor="middle">{minute:g}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#999999"/>'
               f'<text x="{(LEFT + right) / 2:.0f}" y="{bottom + 38}" text-anchor="middle">minutes of tuning</text>'
               f'<text x="0" y="0" text-anchor="middle" transform="translate(16 {(TOP + bottom) / 2:.0f}) rotate(-90)">'
               'ms, whole network</text>')
    labels = []
    for name, ms in what["lines"]:
        out.append(f'<path d="M{LEFT} {y(ms):.1f}H{right}" stroke="{LINES}" stroke-dasharray="5 4"/>')
        labels.append((y(ms), f"{name} {ms:.1f}", LINES, right))
    for colour, name, shown, last, dots, in_time in curves:
        if shown:
            # A value holds until the next one.
            steps = "".join(f"H{x(at):.1f}V{y(ms):.1f}" for at, ms in shown[1:])
            path = f"M{x(shown[0][0]):.1f} {y(shown[0][1]):.1f}{steps}H{x(last):.1f}"
            out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.2" stroke-linejoin="round"/>')
            labels.append((y(shown[-1][1]), f"{name} {shown[-1][1]:.1f}", colour, x(last)))
        if dots and not in_time:
            out.append(f'<path d="M{LEFT} {y(dots[-1][1]):.1f}H{right}" stroke="{colour}" stroke-dasharray="2 4"/>')
            labels.append((y(dots[-1][1]), f"{name}, final {dots[-1][1]:.1f}", colour, right))
        for minute, ms in dots if in_time else []:
            out.append(f'<circle cx="{x(min(minute, end)):.1f}" cy="{y(ms):.1f}" r="4" fill="#ffffff" stroke="{colour}" stroke-width="2"/>')
    heights = spread([wanted for wanted, *_ in labels], 15, TOP + 4, bottom - 4)
    for (wanted, text, colour, start), height in zip(labels, heights):
        if abs(height - wanted) > 1 or start < right - 1:
            out.append(f'<path d="M{start:.1f} {wanted:.1f}L{right + 10} {height:.1f}" stroke="{colour}" opacity="0.4"/>')
        out.append(f'<text x="{right + 13}" y="{height + 4:.1f}" fill="{colour}">{escape(text)}</text>')
    return "\n".join([*out, "</g>"])


def svg(panels, minutes):
    """`panels`: title, curves (name, points of second, ms and tasks without a trial, seconds of the run, minute and ms of what was
    measured, its end last) and lines (name, ms) of each."""
    height = HEIGHT * len(panels) + 24
    note = ("steps: the sum of the tasks' best so far; circles: the network, measured; dotted: the same, of a longer run; "
            "dashed: engines")
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
                      'font-family="sans-serif" font-size="12" fill="#333333">',
                      f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
                      *(panel(p, minutes, HEIGHT * i) for i, p in enumerate(panels)),
                      f'<text x="{LEFT}" y="{height - 12}" font-size="11" fill="#777777">{note}</text>', "</svg>\n"])
