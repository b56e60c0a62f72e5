# SPDX-License-Identifier: MIT
"""The two pictures of sim.json, as SVG: scratch heap over micro-batch, and modelled prefill speed."""

import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 50, 40, 20
COLOURS = {"rockfill": "#1b6ca8", "stock llama.cpp": "#b8432f", "modelled": "#1b6ca8", "derated": "#7aa6c2"}


def scale(values, low, high):
    """A function from a value to a coordinate, logarithmic."""
    first, last = math.log2(min(values)), math.log2(max(values))
    return lambda value: low + (math.log2(value) - first) / ((last - first) or 1) * (high - low)


def text(x, y, words, anchor="middle", colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="13" font-family="sans-serif" fill="{colour}">{words}</text>'


def chart(title, lines, ticks, unit, logarithmic):
    """`lines`: name -> [(ubatch, value, mark)]; a point whose mark is not empty is where a run died."""
    ubatches = sorted({point[0] for points in lines.values() for point in points})
    x = scale(ubatches, LEFT + 20, WIDTH - RIGHT - 20)
    if logarithmic:
        y = scale(ticks, HEIGHT - BOTTOM, TOP)
    else:
        def y(value):
            return HEIGHT - BOTTOM - (value - ticks[0]) / (ticks[-1] - ticks[0]) * (HEIGHT - BOTTOM - TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(WIDTH / 2, 22, title)]
    for tick in ticks:
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>',
                  text(LEFT - 8, y(tick) + 4, f"{tick:g}", "end")]
    parts += [text(x(ubatch), HEIGHT - BOTTOM + 20, str(ubatch)) for ubatch in ubatches]
    parts += [text(WIDTH / 2, HEIGHT - 12, "micro-batch (tokens)"), text(12, TOP - 8, unit, "start")]
    for index, (name, points) in enumerate(lines.items()):
        colour = COLOURS.get(name, "#555")
        where = [(x(ubatch), y(max(value, ticks[0])), mark) for ubatch, value, mark in points]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                     + " ".join(f"{px:.1f},{py:.1f}" for px, py, _ in where) + '"/>')
        for px, py, mark in where:
            parts.append(text(px, py + 5, "&#215;", colour=colour) if mark else
                         f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"/>')
        parts.append(text(LEFT + 30, TOP + 18 * (index + 1), name, "start", colour))
    return "\n".join([*parts, "</svg>", ""])


def draw(folder, result, rival=None):
    """Writes heap.svg and speed.svg; `rival`: rival.json's contents, where there are some."""
    heap = {"rockfill": [(g["ubatch"], g["peak_scratch_mib"], g["oom"]) for g in result["graphs"]]}
    if rival:
        heap["stock llama.cpp"] = [(g["ubatch"], g["peak_scratch_mib"], g["oom"]) for g in rival["graphs"]]
    (folder / "heap.svg").write_text(chart("Driver scratch heap, Qwen2.5-3B Q4_K_M, simulated Mali-G610 (x: ends there)", heap,
                                           (0.5, 1, 4, 16, 64, 256, 1024, 4096), "MiB", True))
    speed = {name: [(g["ubatch"], g["tps_" + name], "") for g in result["graphs"]] for name in ("modelled", "derated")}
    top = max(value for points in speed.values() for _, value, _ in points)
    step = 10 ** math.floor(math.log10(top)) / 2
    ticks = [step * i for i in range(math.ceil(top / step) + 1)]
    (folder / "speed.svg").write_text(chart("Prefill of 512 tokens, Qwen2.5-3B Q4_K_M, Mali-G610: modelled, not measured", speed, ticks,
                                            "t/s", False))
