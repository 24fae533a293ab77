"use strict";
// Interactive figures: light and dark colours, selectable axes, and a timeline that can be zoomed to a page.
(async () => {
  const get = (name) => document.getElementById(name);
  const read = (name) => (get(name) ? JSON.parse(get(name).textContent) : null);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const models = {}, views = {};

  const references = (figure) => [...figure.references()];
  const tagged = (figure, tag) => references(figure).filter((model) => model.tags && model.tags.includes(tag));

  function apply_theme(figure) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const theme = {
      background_fill_color: colour("paper"), border_fill_color: colour("paper"),
      outline_line_color: null, grid_line_color: colour("faint"),
      axis_line_color: colour("soft"), major_tick_line_color: colour("soft"),
      minor_tick_line_color: colour("soft"), axis_label_text_color: colour("ink"),
      major_label_text_color: colour("ink"), label_text_color: colour("ink"),
      inactive_fill_color: colour("paper"),
    };
    for (const model of references(figure)) {
      for (const [name, value] of Object.entries(theme)) {
        if (name in model.properties) model.setv({ [name]: value });
      }
    }
  }

  async function draw() {
    for (const [name, item] of Object.entries(read("figures"))) {
      const embedded = await Bokeh.embed.embed_item(item, `figure-${name}`);
      views[name] = (embedded.roots ?? [...embedded])[0];
      models[name] = views[name].model;
      apply_theme(models[name]);
    }
    dark.addEventListener("change", () => Object.values(models).forEach(apply_theme));
  }

  function update_axes(figure) {
    const axes = { x: get("x-axis").value, y: get("y-axis").value };
    const sources = tagged(figure, "marks");
    for (const [axis, measure] of Object.entries(axes)) {
      const values = sources.flatMap((source) => Array.from(source.data[measure]));
      const begins_at_1 = measure.startsWith("slowdown.") && Math.min(...values) >= 1;
      const start = measure.startsWith("latency.") ? 0 : null;
      // A range that follows its data has no public way to change a fixed start.
      figure[`${axis}_range`]._initial_start =
        begins_at_1 ? 1 - 0.03 * (Math.max(...values) - 1 || 1) : start;
    }
    for (const source of sources) {
      const data = { ...source.data };
      for (const [axis, measure] of Object.entries(axes)) {
        for (const suffix of ["", "_low", "_high", "_text"]) data[axis + suffix] = data[measure + suffix];
      }
      source.data = data;
    }
    // The offline optimum is known for these axes only.
    const initial = axes.x === "slowdown.mean" && axes.y === "energy_per_page_j";
    for (const line of tagged(figure, "offline optimum")) line.visible = initial;
    figure.below.find((model) => "axis_label" in model.properties).axis_label = selected_text("x-axis");
    figure.left[0].axis_label = selected_text("y-axis");
  }

  const selected_text = (name) => get(name).selectedOptions[0].textContent;

  function expand(runs) {
    return runs.flatMap(([first, count, every]) => Array.from({ length: count }, (_, k) => first + k * every));
  }

  function fill(figure, run) {
    const spans = {
      "page": [run.pages.map(([, from, to]) => [from, to]),
        run.pages.map(([page, , , slowdown]) => `page ${page}, slowdown ${slowdown}`)],
      "radio awake": [run.awake], "frame buffered": [run.buffered],
    };
    for (const [row, [pairs, text]] of Object.entries(spans)) {
      tagged(figure, row)[0].data = {
        left: pairs.map(([from]) => from), right: pairs.map(([, to]) => to),
        row: pairs.map(() => row), text: text ?? pairs.map(() => row),
      };
    }
    const times = { "beacon received": expand(run.beacons), "uplink frame": run.up, "downlink frame": run.down };
    for (const [row, time] of Object.entries(times)) {
      tagged(figure, row)[0].data = { time, row: time.map(() => row) };
    }
  }

  function zoom(figure, run) {
    const page = run.pages.find(([number]) => String(number) === get("page").value);
    const [from, to] = page ? [page[1], page[2]] : [0, Math.max(run.pages.at(-1)[2], run.awake.at(-1)[1])];
    const margin = (page ? 0.3 : 0.02) * (to - from);
    figure.x_range.setv({ start: from - margin, end: to + margin });
    // The reset tool of the figure returns to this range.
    figure.x_range.setv({ reset_start: from - margin, reset_end: to + margin });
  }

  function connect_timeline(figure, runs) {
    const selected_run = () => runs[Number(get("policy").value)];
    get("policy").addEventListener("change", () => { fill(figure, selected_run()); zoom(figure, selected_run()); });
    get("page").addEventListener("change", () => zoom(figure, selected_run()));
    fill(figure, selected_run());
    zoom(figure, selected_run());
  }

  // Tables that are wider than the window say so.
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth);
    }
  });
  for (const table of document.querySelectorAll(".wide")) widths.observe(table);

  await draw();
  for (const name of ["x-axis", "y-axis"]) {
    get(name)?.addEventListener("change", () => update_axes(models.frontier));
  }
  if (models.timeline) connect_timeline(models.timeline, read("timelines"));
  window.psm_sim = { models, views };
  document.documentElement.dataset.ready = "yes";
})();
