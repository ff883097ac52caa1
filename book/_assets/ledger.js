// Filters over the tables of the claims ledger. Plain script: works from disk; without it, all rows are shown.
(() => {
  const place = document.getElementById("ledger-filters");
  const rows = [...document.querySelectorAll("#claims-ledger tr")].filter((row) => row.querySelector("[id^=claim-]"));
  if (!place || !rows.length) return;
  const claims = rows.map((row) => {
    const cells = [...row.cells].map((cell) => cell.textContent.trim());
    const section = row.closest("section");
    const evidence = cells[6].includes("pytest") ? "test" : cells[6].includes("--only") ? "experiment"
      : cells[6].includes("a setting of") ? "setting" : "none yet";
    const rule = cells[6].includes("rule written after values") ? "written after values"
      : /(^|; )rule /.test(cells[6]) ? "not marked" : "reads no record";
    return {
      row, section, evidence, rule, verdict: cells[1], text: cells.join(" ").toLowerCase(),
      paper: section.querySelector("h2").firstChild.textContent.trim(),
    };
  });
  const form = document.createElement("form");
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Filter the claims");
  form.addEventListener("submit", (event) => event.preventDefault());
  const field = (label, control) => {
    const wrapper = document.createElement("label");
    wrapper.append(label + " ", control);
    control.setAttribute("aria-label", label); // else its name would hold all its options
    form.append(wrapper);
    control.addEventListener("input", show);
    return control;
  };
  const choice = (key) => {
    const select = document.createElement("select");
    select.append(new Option("all", ""));
    for (const value of [...new Set(claims.map((claim) => claim[key]))].sort()) select.append(new Option(value, value));
    return select;
  };
  const paper = field("Paper", choice("paper"));
  const verdict = field("Verdict", choice("verdict"));
  const evidence = field("Evidence", choice("evidence"));
  const rule = field("Rule", choice("rule"));
  const words = field("Words", Object.assign(document.createElement("input"), { type: "search", size: 16 }));
  const count = document.createElement("output");
  form.append(count);
  place.append(form);

  function show() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const left = new Map();
    for (const claim of claims) {
      const kept = (!paper.value || claim.paper === paper.value) && (!verdict.value || claim.verdict === verdict.value)
        && (!evidence.value || claim.evidence === evidence.value) && (!rule.value || claim.rule === rule.value)
        && wanted.every((word) => claim.text.includes(word));
      claim.row.hidden = !kept;
      left.set(claim.section, (left.get(claim.section) || 0) + kept);
    }
    for (const [section, number] of left) section.hidden = number === 0;
    count.value = `${[...left.values()].reduce((sum, number) => sum + number, 0)} of ${claims.length} claims`;
  }
  show();
})();
