/* Pages with sliders. `privlibLive` (data.js) holds the controls, charts and recorded grids; a panel asks privlib
   itself, run by Pyodide in this page, a twin looks its numbers up in a grid. Every file is a script beside the page,
   so that all of it works from disk with the network cut. */
(() => {
  "use strict";
  const here = new URL("live/", document.currentScript.src);
  const MEMORY = "https://in-this-page.invalid/"; // addresses that Pyodide asks for and that never leave the page

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

  // ---------------------------------------------------------------- controls
  const short = (number) => {
    const rounded = Number(Number(number).toPrecision(3));
    return rounded && Math.abs(rounded) < 1e-3 ? rounded.toExponential().replace("-", "\u2212") : String(rounded);
  };
  const TICKS = 20; // places of a logarithmic slider from one power of ten to the next
  const slid = (control, position) => {
    if (control.kind === "grid") return control.choices[position];
    if (control.kind === "linear") return Number((control.low + control.step * position).toFixed(6));
    const value = Number((control.low * 10 ** (position / TICKS)).toPrecision(2));
    return Math.min(control.high, Math.max(control.low, value));
  };
  const lastPosition = (control) => {
    if (control.kind === "grid") return control.choices.length - 1;
    if (control.kind === "log") return Math.round(TICKS * Math.log10(control.high / control.low));
    return Math.round((control.high - control.low) / control.step);
  };
  const startPosition = (control) => {
    if (control.kind === "grid") return Math.floor(control.choices.length / 2);
    if (control.kind === "linear") return Math.round((control.start - control.low) / control.step);
    return Math.round(TICKS * Math.log10(control.start / control.low));
  };

  /* Labelled controls of a form; returns what they stand at, and calls `moved` when one changes. */
  const controls = (form, described, prefix, moved) => {
    const values = {};
    for (const control of described) {
      const id = `${prefix}-${control.name}`;
      const label = make("label", { for: id }, control.label);
      if (control.kind === "choice") {
        const select = make("select", { id, "data-control": control.name });
        for (const choice of control.choices) select.append(make("option", { value: choice }, choice));
        select.value = values[control.name] = control.start ?? control.choices[0];
        select.addEventListener("change", () => { values[control.name] = select.value; moved(); });
        form.append(make("div", { class: "privlib-control" }, label, select));
        continue;
      }
      const input = make("input", { id, type: "range", min: 0, max: lastPosition(control), step: 1, "data-control": control.name });
      const output = make("output", { for: id });
      const read = () => {
        values[control.name] = slid(control, Number(input.value));
        output.textContent = short(values[control.name]);
        input.setAttribute("aria-valuetext", output.textContent);
      };
      input.value = startPosition(control);
      read();
      input.addEventListener("input", () => { read(); moved(); });
      form.append(make("div", { class: "privlib-control" }, label, input, output));
    }
    return values;
  };

  // ---------------------------------------------------------------- charts
  const look = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--pst-color-text-base").trim() || "#222";
    const lines = style.getPropertyValue("--pst-color-border").trim() || "#ccc";
    const ink = { labelColor: text, titleColor: text, labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal" };
    return {
      background: null,
      view: { stroke: null },
      axis: { ...ink, gridColor: lines, domainColor: lines, tickColor: lines },
      legend: { ...ink, orient: "bottom", direction: "vertical", labelLimit: 300, symbolStrokeWidth: 2.5, symbolSize: 90 },
    };
  };

  /* Draws charts into `place`; returns show(data), which resolves once the new rows are on the screen. Where the
     charts are `open` their legend lists the series of the rows, and is drawn again when those change. */
  const drawing = async (place, charts, first, open = false) => {
    let data = first, listed = "";
    const views = [];
    const rowsOf = (name) => (data[name] ?? []).map((row) => ({ ...row }));
    const series = () => [...new Set(Object.values(data).flat().map((row) => row.series))];
    const draw = async () => {
      views.splice(0).forEach((view) => view.finalize());
      place.replaceChildren();
      listed = String(series());
      for (const chart of charts) {
        const box = make("div", { class: "privlib-chart", role: "img", "aria-label": chart.alt, "data-chart": chart.name });
        const inner = make("div", { "aria-hidden": "true" });
        box.append(inner);
        place.append(box);
        const named = (key, part) => (part?.field === "series" ? { ...part, scale: { ...part.scale, domain: series() } } : part);
        const spec = open ? JSON.parse(JSON.stringify(chart.spec), named) : chart.spec;
        const datasets = Object.fromEntries(Object.keys(spec.datasets).map((name) => [name, rowsOf(name)]));
        const options = { actions: false, renderer: "svg", config: look(), tooltip: false, logLevel: 1 };
        const { view } = await vegaEmbed(inner, { ...spec, datasets }, options);
        box.privlibView = view;
        views.push(view);
      }
    };
    const show = async (next) => {
      data = next;
      if (open && listed !== String(series())) return draw();
      views.forEach((view, place) => {
        for (const name of Object.keys(charts[place].spec.datasets)) view.data(name, rowsOf(name));
      });
      await Promise.all(views.map((view) => view.runAsync()));
    };
    await draw();
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return show;
  };

  const tell = (list, numbers) =>
    list.replaceChildren(
      ...numbers.map((number) =>
        make("div", {}, make("dt", {}, number.label), make("dd", { "data-number": number.name, "data-value": number.value }, number.text)),
      ),
    );

  /* What the place shows now, for whoever looks from outside. */
  const settled = (place, values) => {
    place.dataset.values = JSON.stringify(values);
    place.dataset.moves = Number(place.dataset.moves ?? 0) + 1;
  };

  // ---------------------------------------------------------------- recorded grids
  const twin = async (place) => {
    const { title, controls: described, charts, rows, made } = privlibLive.twins[place.dataset.twin];
    const form = make("form", { class: "privlib-controls", "aria-label": title });
    const pictures = make("div"), list = make("dl", { class: "privlib-numbers", "aria-live": "polite" });
    const source = make("p", { class: "privlib-made" }, `Recorded: book/recorded/${made.join("; book/recorded/")}.`);
    place.replaceChildren(form, list, pictures, source);
    form.addEventListener("submit", (event) => event.preventDefault());
    const fits = (row, names) => names.every((name) => row[name] === values[name]);
    const choices = described.filter((one) => one.kind === "choice").map((one) => one.name);
    const values = controls(form, described, `twin-${place.dataset.twin}`, () => move());
    let show = null;
    const move = async () => {
      const curve = rows.filter((row) => fits(row, choices)), now = curve.filter((row) => fits(row, Object.keys(values)));
      const series = now.filter((row, place) => now.findIndex((other) => other.series === row.series) === place);
      if (series.length === now.length) tell(list, now.map((row) => ({ name: row.series, label: row.series, value: row.value, text: row.text })));
      show = show ?? (await drawing(pictures, charts, { curve, here: now }, true));
      await show({ curve, here: now });
      settled(place, values);
    };
    await move();
    place.dataset.state = "ready";
  };

  // ---------------------------------------------------------------- Python in the page
  const script = (name) =>
    new Promise((done, failed) => {
      const tag = make("script", { src: new URL(name, here) });
      tag.onload = done;
      tag.onerror = () => failed(new Error(`${name} does not load`));
      document.head.append(tag);
    });

  const waiting = new Map();
  window.privlibFile = (name, base64) => {
    const answer = fetch(`data:application/octet-stream;base64,${base64}`);
    waiting.set(name, name.endsWith(".wasm") ? answer.then(unpacked) : answer);
  };
  const unpacked = (answer) =>
    new Response(answer.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });

  /* Lets Pyodide find its files in memory; every other request goes where it always went. */
  const answerFromMemory = () => {
    const outside = window.fetch;
    window.fetch = (asked, options) => {
      const address = String(asked.url ?? asked);
      return address.startsWith(MEMORY) ? waiting.get(address.slice(MEMORY.length)) : outside(asked, options);
    };
  };

  const python = async (say) => {
    const bundle = privlibLive.bundle;
    if (typeof WebAssembly !== "object") throw new Error("this browser runs no WebAssembly");
    if (typeof DecompressionStream !== "function") throw new Error("this browser is too old for it");
    if (bundle.missing) throw new Error("this copy of the book was built without the files of Python");
    say(`Loading Python: ${Math.round(bundle.bytes / 1e6)} MB from this book, nothing from elsewhere …`);
    const loaded = (names) => Promise.all(names.map((name) => script(name)));
    const packages = loaded(bundle.packages.map((name) => `${name}.js`)); // arrive while Python starts
    packages.catch(() => {}); // told below, where they are awaited
    await loaded([...bundle.scripts, ...bundle.core.map((name) => `${name}.js`)]);
    answerFromMemory();
    say("Starting Python …");
    await painted();
    const lock = `data:application/json,${encodeURIComponent(JSON.stringify(bundle.lock))}`;
    const pyodide = await loadPyodide({ indexURL: MEMORY, lockFileURL: lock });
    say("Unpacking NumPy and SciPy …");
    await packages;
    await painted();
    await pyodide.loadPackage(["numpy", "scipy"], { messageCallback: () => {} });
    pyodide.unpackArchive(await (await waiting.get(bundle.privlib)).arrayBuffer(), "wheel");
    waiting.clear();
    say("Importing privlib …");
    await painted();
    return pyodide.runPython("from privlib.experiments.live import answer; answer");
  };

  const panel = async (place, library) => {
    const name = place.dataset.panel, described = privlibLive.panels[name];
    const form = make("form", { class: "privlib-controls", "aria-label": described.title });
    const pictures = make("div"), list = make("dl", { class: "privlib-numbers", "aria-live": "polite" });
    const problem = make("p", { class: "privlib-problem", role: "status" });
    place.append(form, problem, list, pictures);
    form.addEventListener("submit", (event) => event.preventDefault());
    const held = make("fieldset", { disabled: "" });
    form.append(held);
    let ask = null, show = null, wanted = false;
    const values = controls(held, described.controls, `live-${name}`, () => {
      if (!wanted && ask) requestAnimationFrame(move);
      wanted = true;
    });
    const move = async () => {
      wanted = false;
      const began = performance.now();
      const shown = JSON.parse(ask(name, JSON.stringify(values)));
      problem.textContent = shown.problem;
      tell(list, shown.numbers);
      show = show ?? (await drawing(pictures, described.charts, shown.data));
      await show(shown.data);
      place.dataset.milliseconds = performance.now() - began;
      settled(place, values);
    };
    try {
      ask = await library;
      await move();
      held.disabled = false;
      place.dataset.state = "ready";
      place.dataset.seconds = performance.now() / 1000;
    } catch (error) {
      [form, problem, list, pictures].forEach((part) => part.remove());
      place.dataset.state = "recorded";
      throw error;
    }
  };

  const start = async () => {
    const twins = [...document.querySelectorAll(".privlib-twin")], panels = [...document.querySelectorAll(".privlib-live")];
    for (const place of panels) place.dataset.state = "loading";
    for (const place of twins) await twin(place);
    if (!panels.length) return;
    const state = make("p", { class: "privlib-state", role: "status" });
    panels[0].before(state);
    const say = (text) => state.replaceChildren(make("span", { class: "privlib-spinner", "aria-hidden": "true" }), text);
    say("Loading Python …");
    await painted();
    const library = python(say);
    try {
      await Promise.all(panels.map((place) => panel(place, library)));
      state.textContent = `Live: privlib itself answers, in this page. Ready after ${(performance.now() / 1000).toFixed(1)} s.`;
    } catch (error) {
      state.textContent = `No live Python here: ${error.message}. The recorded figure on this page has sliders too; it shows what was computed when the book was made.`;
      state.classList.add("privlib-recorded");
    }
  };

  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
