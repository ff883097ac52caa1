"""What a page of the book must fulfil, checked in a browser. The same functions judge the book and the controls."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

LOCAL_HOSTS = {"127.0.0.1", "localhost"}
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

# Settles lazily loaded images, MathJax and late scripts, then tells what a reader would meet.
LOOK = """async () => {
  for (const image of document.images) {
    image.loading = "eager";
    if (!image.complete) await image.decode().catch(() => 0);
  }
  if (window.MathJax && window.MathJax.startup) await window.MathJax.startup.promise;
  for (let waited = 0; waited < 600 && document.querySelector("[data-state=loading]"); waited++)
    await new Promise((later) => setTimeout(later, 100));
  await new Promise((settled) => setTimeout(settled, 250));
  const shown = (element) => element.outerHTML.slice(0, 120);
  const found = [];
  for (const image of document.querySelectorAll("img, svg[role=img]:not([aria-hidden=true]), [role=figure]")) {
    if (image.closest("mjx-container")) continue;
    const named = document.getElementById(image.getAttribute("aria-labelledby"));
    const alt = image.getAttribute("alt") || image.getAttribute("aria-label") || (named && named.textContent);
    if (!alt || !alt.trim()) found.push("no alt text: " + shown(image));
    if (image.tagName === "IMG" && image.naturalWidth === 0) found.push("image does not load: " + shown(image));
  }
  for (const math of document.querySelectorAll(".math")) {
    if (!math.querySelector("mjx-container")) found.push("maths not rendered: " + math.textContent.slice(0, 80));
    if (math.querySelector("[data-mml-node=merror]")) found.push("maths with an error: " + shown(math));
  }
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width + 1 || document.body.scrollWidth > width + 1)
    found.push("the page scrolls sideways: " + document.documentElement.scrollWidth + " > " + width);
  const mayScroll = "pre, table, .pst-scrollable-table-container, .output, .cell_output, div.math, nav";
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  for (const element of document.querySelectorAll("main, main *")) {
    if (element.closest("mjx-container")) continue;
    if (scrolls(element) && element.scrollWidth > element.clientWidth + 1 && !element.closest(mayScroll))
      found.push("scrolls sideways: " + shown(element));
    const box = element.getBoundingClientRect();
    if (box.width > 1 && box.height > 1 && box.right > width + 1) {
      let inside = element;
      while (inside && !scrolls(inside)) inside = inside.parentElement;
      if (!inside) found.push("sticks out to " + Math.round(box.right) + ": " + shown(element));
    }
  }
  return {
    found,
    ids: [...document.querySelectorAll("[id], a[name]")].map((element) => element.id || element.name),
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    title: document.title,
  };
}"""


@dataclass
class Visit:
    """What one page showed: complaints, its anchors and its links as absolute addresses."""

    address: str
    complaints: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)


def is_local(address: str) -> bool:
    """Whether an address stays on this machine."""
    parts = urlparse(address)
    return parts.scheme in {"file", "data", "blob", "about"} or parts.hostname in LOCAL_HOSTS


def visit(context, address: str) -> Visit:
    """Open a page with the network cut (by chromium.FLAGS) and collect everything that is wrong with it."""
    seen = Visit(address)
    page = context.new_page()

    def asked(request):
        if not is_local(request.url):
            seen.complaints.append(f"asks for {request.url}")

    def said(message):
        if message.type == "error":
            seen.complaints.append(f"console error: {message.text}")

    page.on("request", asked)
    page.on("console", said)
    page.on("pageerror", lambda error: seen.complaints.append(f"script error: {error}"))
    page.on("websocket", lambda socket: seen.complaints.append(f"opens a socket to {socket.url}"))
    page.on("requestfailed", lambda request: seen.complaints.append(f"does not load: {request.url}"))
    try:
        page.goto(address, wait_until="load")
        look = page.evaluate(LOOK)
    finally:
        page.close()
    seen.complaints += look["found"]
    if not look["title"].strip():
        seen.complaints.append("no title")
    seen.ids, seen.links = set(look["ids"]), look["links"]
    return seen


def pages_of(html: Path) -> list[str]:
    """Pages of a built book, relative to its folder; templates below _static and mere redirections are none."""
    found = [path for path in sorted(html.rglob("*.html")) if html / "_static" not in path.parents]
    found = [path for path in found if 'http-equiv="Refresh"' not in path.read_text(encoding="utf-8")]
    return [path.relative_to(html).as_posix() for path in found]


def check(browser, html: Path, root: str, viewport: dict[str, int]) -> list[str]:
    """All complaints about the pages below `html`, opened at the address `root` (with a slash at its end)."""
    context = browser.new_context(viewport=viewport)
    try:
        visits = {root + path: visit(context, root + path) for path in pages_of(html)}
    finally:
        context.close()
    complaints = [f"{seen.address}: {said}" for seen in visits.values() for said in seen.complaints]
    return complaints + dead_links(visits, html, root)


def dead_links(visits: dict[str, Visit], html: Path, root: str) -> list[str]:
    """Links that stay in the book and lead nowhere: no such file, or no such anchor on the page."""
    dead = []
    for seen in visits.values():
        for link in sorted(set(seen.links)):
            target, anchor = urldefrag(link)
            if not is_local(target):
                continue
            place = target.split("?")[0]
            if not place.startswith(root) or not (html / unquote(place[len(root) :])).is_file():
                dead.append(f"{seen.address}: dead link {link}")
            elif anchor and place in visits and unquote(anchor) not in visits[place].ids:
                dead.append(f"{seen.address}: no such anchor {link}")
    return dead
