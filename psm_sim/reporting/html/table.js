"use strict";
// Tables that are wider than the window say so.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth);
  }
});
for (const table of document.querySelectorAll(".wide")) widths.observe(table);

// Table that is sorted by a click on a column heading and shows more rows on demand.
(() => {
  const STEP = 50;
  const read = (name) => JSON.parse(document.getElementById(name).textContent);
  const container = document.getElementById("rows");
  if (!container) return;
  const { columns, rows } = read("table");
  let ordered = rows, shown = STEP, sorted = -1, descending = false;
  const body = document.createElement("tbody");
  const more = document.createElement("button");
  const headings = columns.map((name, column) => {
    const heading = document.createElement("th"), button = document.createElement("button");
    heading.scope = "col";
    button.textContent = name;
    button.addEventListener("click", () => sort(column));
    heading.append(button);
    return heading;
  });

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  }

  function sort(column) {
    descending = sorted === column && !descending;
    sorted = column;
    const sign = descending ? -1 : 1;
    ordered = [...rows].sort((a, b) => sign * compare(a[column], b[column]));
    headings.forEach((heading, index) => {
      if (index === column) heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    show();
  }

  function create_cell(value) {
    const cell = document.createElement("td");
    cell.textContent = value === null ? "" : String(value);
    if (typeof value === "number") cell.className = "number";
    return cell;
  }

  function show() {
    body.replaceChildren(...ordered.slice(0, shown).map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map(create_cell));
      return line;
    }));
    more.hidden = shown >= ordered.length;
    more.textContent = `show more (${Math.max(0, ordered.length - shown)} left)`;
  }

  const table = document.createElement("table"), top = document.createElement("thead");
  const line = document.createElement("tr");
  line.append(...headings);
  top.append(line);
  table.append(top, body);
  const wide = document.createElement("div");
  wide.className = "wide";
  wide.append(table);
  widths.observe(wide);
  more.addEventListener("click", () => { shown += 4 * STEP; show(); });
  container.append(wide, more);
  show();
})();
