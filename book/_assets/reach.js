// What the theme leaves out for readers without a mouse: names for the toggles of the contents, a stop of the tabulator
// key at whatever scrolls sideways, and a list role that its entries do not bear out.
(() => {
  const SCROLLING = "div.math, .pst-scrollable-table-container, .bd-article div.output, .bd-article pre, .bd-article table";
  const reach = () => {
    for (const toggle of document.querySelectorAll(".toctree-toggle")) {
      const summary = toggle.closest("summary");
      const link = summary && summary.closest("li").querySelector("a");
      if (link && !summary.hasAttribute("aria-label")) summary.setAttribute("aria-label", `Pages below ${link.textContent.trim()}`);
    }
    for (const list of document.querySelectorAll(".citation-list[role=list]")) list.removeAttribute("role"); // its entries are no items
    for (const element of document.querySelectorAll(SCROLLING)) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX)
        && element.scrollWidth > element.clientWidth;
      if (scrolls) element.tabIndex = 0;
    }
  };
  const later = () => (window.MathJax && MathJax.startup ? MathJax.startup.promise.then(reach) : reach());
  document.addEventListener("DOMContentLoaded", reach);
  window.addEventListener("load", later);
  window.addEventListener("resize", later);
})();
