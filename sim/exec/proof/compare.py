# SPDX-License-Identifier: MIT
"""What came out of both devices against each other, and against values computed here."""
from collections import namedtuple

from values import TYPES, is_float, lanes, same_float, ulps, unpack

# elements: numbers compared; worst: of the floats that are within their error, in units in the last place; reference:
# elements in which lavapipe differs from the values computed here; first: where the first differences are, as text.
Result = namedtuple("Result", "elements differences worst reference first")


def is_within(expression, kind, inputs, got, wanted):
    """Whether a float is good, and its distance."""
    if same_float(got, wanted):
        return True, 0
    if expression.ulp == 0 and expression.absolute == 0:
        return False, ulps(got, wanted, TYPES[kind][3])
    distance = ulps(got, wanted, TYPES[kind][3])
    allowed = expression.ulp(*inputs) if callable(expression.ulp) else expression.ulp
    return distance <= allowed or abs(got - wanted) <= expression.absolute, distance


def lane_inputs(group, columns, element, lane):
    return [columns[k][element * lanes(name) + lane % lanes(name)] for k, name in enumerate(group.inputs)]


def compare_group(group, columns, lavapipe, mali):
    """Both: one bytes a type of result, in the order of group.results()."""
    elements = differences = reference = 0
    worst, first = 0, []
    for k, (kind, expressions) in enumerate(group.results().items()):
        seen, expected, width = unpack(kind, mali[k]), unpack(kind, lavapipe[k]), lanes(kind)
        for at, (got, other) in enumerate(zip(seen, expected)):
            expression = expressions[at // width % len(expressions)]
            inputs = lane_inputs(group, columns, at // width // len(expressions), at % width)
            wanted = expression.want(*inputs) if expression.want else other
            elements += 1
            if is_float(kind):
                good, distance = is_within(expression, kind, inputs, got, wanted)
                reference += not is_within(expression, kind, inputs, other, wanted)[0]
            else:
                good, distance = got == wanted, 0
                reference += other != wanted
            if good:
                worst = max(worst, distance)
                continue
            differences += 1
            if len([line for line in first if line.startswith(expression.text + ":")]) < 2:
                first.append(f"{expression.text}: {inputs} gives {got}, not {wanted} (lavapipe {other})")
    return Result(elements, differences, worst, reference, first)


def compare_words(lavapipe, mali, want=None):
    """Buffers of 32-bit words, equal to the bit; want: the buffers' words where lavapipe is wrong."""
    elements = differences = reference = 0
    first = []
    for k, (left, right) in enumerate(zip(lavapipe, mali)):
        other, got = unpack("u32", left), unpack("u32", right)
        wanted = want[k] if want and want[k] is not None else other
        elements += len(got)
        for at, value in enumerate(got):
            reference += other[at] != wanted[at]
            if value != wanted[at]:
                differences += 1
                if len(first) < 4:
                    first.append(f"buffer {k}, word {at}: {value:#x}, not {wanted[at]:#x} (lavapipe {other[at]:#x})")
    return Result(elements, differences, 0, reference, first)
