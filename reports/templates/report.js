"use strict";
// Sorting and filtering of the tables that are there already: without this script they are whole, only still.
for (const block of document.querySelectorAll(".sortable")) {
  const body = block.querySelector("tbody");
  const rows = [...body.rows];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const heads = [...block.querySelectorAll("thead th")];
  const filters = block.querySelector(".filters");

  const compare = (column, numeric, direction) => (a, b) => {
    const [x, y] = [a, b].map((row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim());
    if (!numeric) return direction * x.localeCompare(y, undefined, { numeric: true });
    const [p, q] = [Number(x), Number(y)];
    // What was not measured comes last, whichever way the column is sorted.
    if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
    return direction * (p - q);
  };

  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      body.append(...[...body.rows].sort(compare(column, head.classList.contains("number"), direction)));
    });
  });

  const apply = () => {
    const words = filters.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...filters.querySelectorAll("select")].filter((select) => select.value !== "");
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => text.get(row).includes(word))
        && chosen.every((select) => row.dataset[select.name] === select.value);
      row.hidden = !fits;
      shown += fits;
    }
    filters.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  };
  filters.hidden = false;
  filters.addEventListener("input", apply);
  apply();
}
