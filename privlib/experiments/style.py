"""One look for all figures: colour-blind-safe, a second encoding beside colour, readable on a phone.

Colours are those of Okabe and Ito (2008), but olive for their yellow, which does not show on white. SVG ids are
salted with a constant and no date is written, so that the same record gives the same bytes.
"""

from __future__ import annotations

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#999933", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2)), (0, (2, 2)))
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--", "**")

WIDTH = 6.4  # inches: 460 CSS pixels at 72 dpi, so that 10 points stay near 8 on a phone of 360
SETTINGS = {
    "figure.figsize": (WIDTH, 4.0),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "errorbar.capsize": 3,
    "svg.hashsalt": "privlib",
    "svg.fonttype": "path",
}


def use_style() -> None:
    """Set matplotlib to the book's look, from its defaults (a reader's own matplotlibrc changes no figure).

    In a notebook figures become SVG without a date. Colours, markers and lines are given in parallel:
    series j takes PALETTE[j], MARKERS[j] and LINESTYLES[j]; bars take HATCHES[j].
    """
    import matplotlib as mpl
    from cycler import cycler

    backend = mpl.rcParams._get("backend")
    mpl.rcdefaults()
    mpl.rcParams["backend"] = backend
    cycle = cycler(color=PALETTE) + cycler(linestyle=LINESTYLES)
    mpl.rcParams.update(SETTINGS | {"axes.prop_cycle": cycle})
    _show_svg()


def save(figure, path) -> None:
    """Save a matplotlib figure as .svg or .png, without date or program version in the file."""
    metadata = {"Date": None, "Creator": None} if str(path).endswith(".svg") else {"Software": None}
    figure.savefig(path, metadata=metadata)


def _show_svg() -> None:
    """In a notebook, let inline figures be SVG (or nothing to do elsewhere)."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
