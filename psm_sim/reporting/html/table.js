"use strict";
// The table of many rows: sorted by a click on a heading, shown some rows at a time.
(() => {
  const STEP = 50;
  const read = (name) => JSON.parse(document.getElementById(name).textContent);
  const place = document.getElementById("rows");
  if (!place) return;
  const { columns, rows } = read("table");
  let order = rows, shown = STEP, sorted = -1, falling = false;
  const body = document.createElement("tbody");
  const more = document.createElement("button");
  const heads = columns.map((name, number) => {
    const head = document.createElement("th"), button = document.createElement("button");
    head.scope = "col";
    button.textContent = name;
    button.addEventListener("click", () => sort(number));
    head.append(button);
    return head;
  });

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  }

  function sort(number) {
    falling = sorted === number && !falling;
    sorted = number;
    const sign = falling ? -1 : 1;
    order = [...rows].sort((a, b) => sign * compare(a[number], b[number]));
    heads.forEach((head, each) => {
      if (each === number) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    show();
  }

  function cell(value) {
    const made = document.createElement("td");
    made.textContent = value === null ? "" : String(value);
    if (typeof value === "number") made.className = "number";
    return made;
  }

  function show() {
    body.replaceChildren(...order.slice(0, shown).map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map(cell));
      return line;
    }));
    more.hidden = shown >= order.length;
    more.textContent = `show more (${Math.max(0, order.length - shown)} left)`;
  }

  const table = document.createElement("table"), top = document.createElement("thead");
  const line = document.createElement("tr");
  line.append(...heads);
  top.append(line);
  table.append(top, body);
  const wide = document.createElement("div");
  wide.className = "wide";
  wide.append(table);
  more.addEventListener("click", () => { shown += 4 * STEP; show(); });
  place.append(wide, more);
  show();
})();
