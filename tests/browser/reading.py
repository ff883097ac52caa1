"""What a page must be for readers with a keyboard, a screen reader, a dark room or paper."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import axe_playwright_python

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")  # axe-core itself, as that wheel brings it
SERIOUS = ("serious", "critical")
SEEN = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")  # what colours and width decide
A4_WIDTH = 680  # CSS pixels between margins of 1.5 cm, rounded down

RUN_AXE = """async (rules) => {
  const only = rules.length ? {runOnly: {type: "rule", values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ["violations"], preload: false, iframes: false, ...only});
  return found.violations.map((one) => ({
    impact: one.impact, rule: one.id, help: one.help,
    where: one.nodes.slice(0, 4).map((node) => node.html.slice(0, 140)),
  }));
}"""

# Tab from the top of the page to its end: what is focused, and whether a reader could see that it is.
CONTROLS = """() => {
  const shown = (element) => element.checkVisibility({visibilityProperty: true})
    && element.getBoundingClientRect().width > 0 && !element.closest("[inert], [hidden], dialog:not([open])");
  return [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=slider], [onclick]",
  )].filter((element) => !element.disabled && shown(element)).filter((element) => element.tabIndex < 0 && !(
    element.matches("[role=tab], [type=radio]") || element.closest("mjx-container, [aria-hidden=true]")
  )).map((element) => "no way there by keyboard: " + element.outerHTML.slice(0, 140));
}"""

CUT_OFF = """() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  for (const element of document.querySelectorAll("main *")) {
    if (element.closest("mjx-container, script, style, svg") || !element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 1 && box.height > 1 && box.right > width + 2)
      found.push("cut off on paper: " + Math.round(box.right) + " > " + width + ": " + element.outerHTML.slice(0, 120));
    const style = getComputedStyle(element);
    if (["auto", "scroll", "hidden"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 2
        && element.clientWidth > 1 && style.display !== "inline")
      found.push("hidden on paper: " + element.outerHTML.slice(0, 120));
  }
  return found;
}"""


def settled(context, address: str):
    """A page of the book, opened, with its formulas set."""
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.evaluate("async () => { if (window.MathJax?.startup) await MathJax.startup.promise; }")
    return page


def axe(page, rules: tuple[str, ...] = ()) -> list[str]:
    """Serious and critical findings of axe-core on an open page; of these rules only, where some are named."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return [
        f"axe {one['impact']}: {one['rule']} ({one['help']}): {'; '.join(one['where'])}"
        for one in page.evaluate(RUN_AXE, list(rules))
        if one["impact"] in SERIOUS
    ]


def out_of_reach(page) -> list[str]:
    """Visible controls that the tabulator key passes over."""
    return page.evaluate(CONTROLS)


@dataclass(frozen=True)
class Printed:
    """A page on paper: number of sheets, its text, and what would be cut off."""

    sheets: int
    text: str
    complaints: list[str]


def printed(page) -> Printed:
    """Print an open page to PDF and read it back."""
    from pypdf import PdfReader

    page.emulate_media(media="print")
    page.set_viewport_size({"width": A4_WIDTH, "height": 960})
    complaints = page.evaluate(CUT_OFF)
    reader = PdfReader(io.BytesIO(page.pdf(format="A4")))
    return Printed(len(reader.pages), "\n".join(sheet.extract_text() for sheet in reader.pages), complaints)
