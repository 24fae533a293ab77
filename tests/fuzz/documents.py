"""Documents of every kind that the program reads: nearly right, odd in one place or in several."""

from __future__ import annotations

import gzip
import json
from typing import Any

from hypothesis import strategies as st

from psm_sim.learning import make_learner, switching_rates
from psm_sim.network.topology import topology_keys
from psm_sim.workload.recordings.ucb_format import HEADER
from tests.workload.recordings import captures

ODD = (
    "0", "-0.0", "-1", "nan", "inf", "-inf", "1e308", "1e-320", "1e999", "0x1", "1_000", "٣", "true", "none",
    "None", "1e9", "2e9", "4294967296", "1;2", "a", "[", "'", "9" * 40, "9" * 5000, "", " ", "\x1b[2J",
)  # fmt: skip


def mostly(good: st.SearchStrategy[Any], odd: st.SearchStrategy[Any], of: int = 15) -> st.SearchStrategy[Any]:
    """Return a strategy that draws something odd once in *of* times; one_of() knows no weights."""
    return st.integers(1, of).flatmap(lambda number: odd if number == of else good)


numbers = st.one_of(
    st.integers(1, 5000).map(str),
    st.floats(0, 1e6, allow_nan=False).map(repr),
    st.floats().map(repr),
    st.sampled_from(ODD),
)
_whole = st.integers(1, 5000).map(str)
good_numbers = mostly(_whole, numbers, 30)


def _joined(parts: st.SearchStrategy[str], most: int, by: str) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map(by.join)


def encoded(texts: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Return texts as bytes, some of them packed."""
    plain = texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
    return st.one_of(plain, plain, plain, plain.map(lambda data: gzip.compress(data, 1)))


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["+", "-", "*", "/", "**", "%", "<", "==", " and ", " or ", " if ", "//", "@", "."]
    )
    functions = st.sampled_from(["log", "exp", "sqrt", "abs", "min", "where", "log1p", "eval", "__import__"])
    return st.one_of(
        st.tuples(inner, operators, inner).map("".join),
        st.tuples(functions, st.lists(inner, max_size=3)).map(
            lambda found: f"{found[0]}({','.join(found[1])})"
        ),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
        st.tuples(inner, inner, inner).map(lambda found: "({} if {} else {})".format(*found)),
    )


formulas = st.recursive(
    st.one_of(st.sampled_from(["I", "T", "Ti", "gamma", "1", "x", "'a'"]), numbers), _larger, max_leaves=12
).map(lambda text: text.encode("utf-8", "surrogatepass"))

_assignments = st.tuples(st.sampled_from([*topology_keys(), "description", "name", "x"]), numbers)
topologies = _joined(_assignments.map(lambda pair: f"{pair[0]} = {pair[1] or 1}"), 6, "\n").map(str.encode)

_points = st.lists(st.tuples(numbers, numbers).map(lambda pair: f"[{pair[0]}, {pair[1]}]"), max_size=4)
_rising = st.lists(st.integers(1, 3000), min_size=1, max_size=4).map(
    lambda values: [f"[{(place + 1) / len(values)!r}, {value}]" for place, value in enumerate(sorted(values))]
)
_table = st.tuples(
    st.sampled_from(
        ["think_s", "files_per_page", "request_bytes", "reply_bytes", "main_bytes", "server_delay_s", "x"]
    ),
    st.sampled_from(["linear", "log", "step", "x"]),
    st.one_of(_rising, _rising, _points),
).map(lambda found: f'[{found[0]}]\ninterpolation = "{found[1]}"\nquantiles = [{", ".join(found[2])}]')
_facts = st.tuples(st.sampled_from(["name", "remark", "synthetic", "parameters", "regimes"]), numbers).map(
    lambda pair: f"{pair[0]} = {pair[1]!r}"
)
profiles = st.tuples(_joined(_facts, 2, "\n"), _joined(_table, 3, "\n")).map(
    lambda found: f'base = "ucb"\n{found[0]}\n{found[1]}\n'.encode()
)

_cells = st.one_of(good_numbers, st.lists(good_numbers, max_size=3).map(";".join))
_row = st.tuples(good_numbers, good_numbers, good_numbers, _cells, good_numbers, good_numbers).map(",".join)
_header = st.sampled_from(
    ["page,think_s,main_bytes,images,request_bytes,server_delay_s"] * 20
    + ["page,think_s,main_bytes,images", "images,think_s", "", "page,page,think_s,main_bytes,images,x"]
)
page_lists = encoded(st.tuples(_header, st.lists(_row, min_size=1, max_size=4).map("\n".join)).map("\n".join))

_json_leaf = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**6),
    st.floats(),
    st.integers(10**30, 10**31),
    st.sampled_from(ODD),
)
_date = st.sampled_from(["2020-01-01T00:00:0{}Z", "2020-01-01T00:1{}:00.123456789+01:00"])
_times = st.tuples(_date, st.integers(0, 9)).map(lambda found: found[0].format(found[1]))
_sizes = mostly(st.integers(1, 10**5), _json_leaf)
_entry = st.fixed_dictionaries(
    {
        "startedDateTime": mostly(_times, _json_leaf),
        "time": _sizes,
        "request": st.fixed_dictionaries({"url": st.one_of(st.just("http://x/a.html"), _json_leaf)}),
        "response": st.fixed_dictionaries({"bodySize": _sizes, "headersSize": _sizes}),
    },
    optional={
        "timings": st.dictionaries(st.sampled_from(["wait", "send", "receive"]), _sizes),
        "pageref": _json_leaf,
        "_transferSize": _sizes,
        "_bytesOut": _sizes,
        "_load_start": _sizes,
        "_load_end": _sizes,
        "_fromCache": _json_leaf,
    },
)
_log = st.fixed_dictionaries(
    {"entries": mostly(st.lists(_entry, min_size=1, max_size=4), st.lists(_json_leaf, max_size=2))},
    optional={
        "version": _json_leaf,
        "creator": _json_leaf,
        "pages": st.lists(
            st.dictionaries(st.sampled_from(["id", "startedDateTime", "_run"]), _json_leaf), max_size=2
        ),
    },
)
har_files = encoded(st.fixed_dictionaries({"log": _log}).map(json.dumps))

_u32 = st.one_of(st.integers(846890339, 846890339 + 10**6), st.sampled_from([0, 1, 2**31, 2**32 - 1]))
_line = st.sampled_from(
    [b"", b"GET /a.html HTTP/1.0", b"GET /b.gif HTTP/1.0", b"HEAD x", b"POST \xff", b"BREW x", b"G"]
)
_fields = st.tuples(_u32, _u32, _u32, _u32, _u32, _u32, _u32)


def _record(found: tuple[tuple[int, ...], int, int, bytes]) -> bytes:
    times, size, lie, line = found
    return HEADER.pack(*times, 1025, 77, 80, 2, 8, 0, 0, 0, 170, size, len(line) + lie) + line


_records = st.tuples(_fields, st.integers(0, 10**5), st.sampled_from([0] * 9 + [1]), _line).map(_record)
ucb_files = (
    st.lists(_records, max_size=5)
    .map(b"".join)
    .flatmap(lambda data: st.sampled_from([data, data, data, gzip.compress(data, 1)]))
)
_numbers_of_showtrace = st.lists(_u32.map(str), min_size=10, max_size=10)
showtrace = encoded(
    _joined(
        _numbers_of_showtrace.map(
            lambda n: (
                f"{n[0]}:{n[1]} {n[2]}:{n[3]} {n[4]}:{n[5]} 1.2.3.4:80 5.6.7.8:80 2 8 "
                f"{n[6]} {n[7]} {n[8]} 170 {n[9]} 20 GET /a.html HTTP/1.0"
            )
        ),
        4,
        "\n",
    )
)
_bu_line = st.tuples(
    st.sampled_from(["cs20"] * 9 + ["a b", "\x1b[2J"]),
    mostly(st.integers(785526125, 785600000).map(str), numbers),
    st.sampled_from(["u1", "u2", "\x1b]0;x\x07"]),
    st.sampled_from(["http://x/a.html", "http://[x/", "x.gif", 'a"b', ""]),
    good_numbers,
    good_numbers,
).map(lambda found: '{} {} {} "{}" {} {}'.format(*found))
bu_logs = encoded(st.lists(_bu_line, min_size=1, max_size=4).map("\n".join))

_hosts = st.sampled_from([("10.0.0.2", "8.8.8.8"), ("8.8.8.8", "10.0.0.2"), ("fd00::2", "2001:db8::1")])
_ip = st.builds(
    lambda hosts, payload, protocol, sequence, flags: captures.packet(
        hosts[0], hosts[1], payload, protocol, (80, 5000), sequence, flags
    ),
    _hosts, st.integers(0, 60), st.sampled_from([1, 6, 6, 17]), st.integers(0, 2**32 - 1), st.integers(0, 31),
)  # fmt: skip
_link_and_frames = st.tuples(
    st.sampled_from(sorted(captures.FRAMES)),
    st.lists(st.tuples(st.floats(0, 4e9), _ip), min_size=1, max_size=5),
    st.sampled_from("<>"),
    st.booleans(),
    st.sampled_from([0, 0, 0, 40]),
)


def _pcap(found: tuple[str, list[tuple[float, bytes]], str, bool, int]) -> bytes:
    name, packets, order, nano, snap = found
    link, frame = captures.FRAMES[name]
    return captures.pcap([(at_s, frame(ip)) for at_s, ip in packets], link, order, nano, snap)


def _pcapng(found: tuple[str, list[tuple[float, bytes]], str, bool, int]) -> bytes:
    name, packets, order, nano, snap = found
    link, frame = captures.FRAMES[name]
    head = captures.section(order) + captures.interface(link, order, 9 if nano else None, snap)
    return head + b"".join(captures.enhanced(frame(ip), round(at_s * 1e6), 0, order) for at_s, ip in packets)


_captures = st.one_of(_link_and_frames.map(_pcap), _link_and_frames.map(_pcapng))
capture_files = _captures.flatmap(
    lambda data: st.sampled_from([data, data, data, data + data, gzip.compress(data, 1)])
)

TIMES_MS = [float(100 * (k + 1)) for k in range(12)]


def _learnt() -> dict[str, Any]:
    learner = make_learner("learn-alpha", 12, 27)
    for number in range(5):
        learner.update([float(number * k % 7) for k in range(12)])
    return {"format": "psm_sim lpsm state 1", "times_ms": TIMES_MS, "learner": learner.state()}


STATE = json.dumps(_learnt())
RATES = switching_rates(27)


def _changed(found: tuple[list[int], Any]) -> bytes:
    """Return the state of a learner with one value, at some path, replaced."""
    path, value = found
    document = json.loads(STATE)
    node: Any = document
    for step in path:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            break
        key = keys[step % len(keys)]
        if not isinstance(node[key], (dict, list)) or step % 5 == 0:
            node[key] = value
            break
        node = node[key]
    return json.dumps(document).encode()


_values = st.one_of(_json_leaf, st.floats(-1e308, 1e308), st.just(10**400), st.lists(_json_leaf, max_size=3))
states = st.tuples(st.lists(st.integers(0, 400), min_size=1, max_size=5), _values).map(_changed)

_option = st.one_of(
    st.tuples(st.sampled_from(["--pages", "--seed", "--timeout-s"]), numbers),
    st.tuples(
        st.just("--policy"),
        st.tuples(
            st.sampled_from(["psm", "bsd", "lpsm", "always-on", "psmm", "x.py:P"]),
            st.sampled_from(["listen_interval", "p", "max_sleep_ms", "gamma", "min_ms", "horizon_s", "loss"]),
            numbers,
        ).map(lambda found: "{}:{}={}".format(*found)),
    ),
    st.tuples(st.just("--trace"), st.tuples(st.sampled_from(["ucb", "modern", "x.har"]), st.sampled_from(
        ["max_think_s", "mean_think_s", "server_delay_ms", "request_bytes", "wander"]), numbers
    ).map(lambda found: "{}:{}={}".format(*found))),
    st.tuples(st.just("--set"), st.tuples(st.sampled_from(topology_keys()), numbers).map("=".join)),
    st.tuples(st.just("--loss"), formulas.map(bytes.decode)),
    st.tuples(st.sampled_from(["--nosuch", "--preset", "--topology"]), st.sampled_from(["", "\x1b", "no/"])),
)  # fmt: skip
options = st.lists(_option, min_size=1, max_size=2).map(
    lambda found: [word for pair in found for word in pair]
)
