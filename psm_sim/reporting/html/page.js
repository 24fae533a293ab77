"use strict";
// The figures: drawn from their data, painted light or dark, with axes and a span of time to choose.
(async () => {
  const get = (name) => document.getElementById(name);
  const read = (name) => (get(name) ? JSON.parse(get(name).textContent) : null);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const models = {}, shown = {};

  const parts = (figure) => [...figure.references()];
  const tagged = (figure, tag) => parts(figure).filter((part) => part.tags && part.tags.includes(tag));

  function paint(figure) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const looks = {
      background_fill_color: colour("paper"), border_fill_color: colour("paper"),
      outline_line_color: null, grid_line_color: colour("faint"),
      axis_line_color: colour("soft"), major_tick_line_color: colour("soft"),
      minor_tick_line_color: colour("soft"), axis_label_text_color: colour("ink"),
      major_label_text_color: colour("ink"), label_text_color: colour("ink"),
      inactive_fill_color: colour("paper"),
    };
    for (const part of parts(figure)) {
      for (const [name, value] of Object.entries(looks)) {
        if (name in part.properties) part.setv({ [name]: value });
      }
    }
  }

  async function draw() {
    for (const [name, item] of Object.entries(read("figures"))) {
      const views = await Bokeh.embed.embed_item(item, `figure-${name}`);
      shown[name] = (views.roots ?? [...views])[0];
      models[name] = shown[name].model;
      paint(models[name]);
    }
    dark.addEventListener("change", () => Object.values(models).forEach(paint));
  }

  const told = (value, half) => value.toFixed(4) + (Number.isFinite(half) ? ` ± ${half.toFixed(4)}` : "");

  function choose_axes(figure) {
    const axes = { x: get("x-axis").value, y: get("y-axis").value };
    for (const source of tagged(figure, "marks")) {
      const data = { ...source.data };
      for (const [axis, measure] of Object.entries(axes)) {
        const values = Array.from(data[`value ${measure}`]), halves = Array.from(data[`half ${measure}`]);
        data[axis] = values;
        data[`${axis}_told`] = values.map((value, place) => told(value, halves[place]));
        data[`${axis}_low`] = values.map((value, place) => value - halves[place]);
        data[`${axis}_high`] = values.map((value, place) => value + halves[place]);
      }
      source.data = data;
    }
    const first = axes.x === "slowdown.mean" && axes.y === "energy_per_page_j";
    for (const line of tagged(figure, "hindsight")) line.visible = first;
    figure.below.find((part) => "axis_label" in part.properties).axis_label = called("x-axis");
    figure.left[0].axis_label = called("y-axis");
  }

  const called = (name) => get(name).selectedOptions[0].textContent;

  function expanded(runs) {
    return runs.flatMap(([first, count, every]) => Array.from({ length: count }, (_, k) => first + k * every));
  }

  function fill(figure, run) {
    const spans = {
      "page": [run.pages.map(([, from, to]) => [from, to]),
        run.pages.map(([page, , , slowdown]) => `page ${page}, slowdown ${slowdown}`)],
      "radio awake": [run.awake], "frame held": [run.held],
    };
    for (const [row, [pairs, told]] of Object.entries(spans)) {
      tagged(figure, row)[0].data = {
        left: pairs.map(([from]) => from), right: pairs.map(([, to]) => to),
        row: pairs.map(() => row), told: told ?? pairs.map(() => row),
      };
    }
    const times = { "beacon heard": expanded(run.beacons), "frame up": run.up, "frame down": run.down };
    for (const [row, time] of Object.entries(times)) {
      tagged(figure, row)[0].data = { time, row: time.map(() => row) };
    }
  }

  function zoom(figure, run) {
    const page = run.pages.find(([number]) => String(number) === get("page").value);
    const [from, to] = page ? [page[1], page[2]] : [0, run.pages.at(-1)[2]];
    const margin = (page ? 0.3 : 0.02) * (to - from);
    figure.x_range.setv({ start: from - margin, end: to + margin });
    // So that the figure's own reset comes back here.
    figure.x_range.setv({ reset_start: from - margin, reset_end: to + margin });
  }

  function follow_timeline(figure, runs) {
    const chosen = () => runs[Number(get("policy").value)];
    get("policy").addEventListener("change", () => { fill(figure, chosen()); zoom(figure, chosen()); });
    get("page").addEventListener("change", () => zoom(figure, chosen()));
    fill(figure, chosen());
    zoom(figure, chosen());
  }

  await draw();
  for (const name of ["x-axis", "y-axis"]) {
    get(name)?.addEventListener("change", () => choose_axes(models.frontier));
  }
  if (models.timeline) follow_timeline(models.timeline, read("timelines"));
  window.psm_sim = { models, views: shown };
  document.documentElement.dataset.ready = "yes";
})();
