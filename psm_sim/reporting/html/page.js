"use strict";
// Tables that are wider than the window say so.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth);
  }
});
for (const table of document.querySelectorAll(".wide")) widths.observe(table);
