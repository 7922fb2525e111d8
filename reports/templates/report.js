"use strict";
// Draws the tables that are opened, and keeps what is sorted, filtered or looked for in the address:
// #table?case=...&words=...&sort=3-&dtype=int32. Without this script each table is there as plain text.
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// What a table is beside its text: JSON in gzip and base64.
const unpacked = async (block) => {
  const packed = atob(block.querySelector("script").textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

// A browser with scripts takes what stands for one without them as text.
const plain = (block) =>
  new DOMParser().parseFromString(block.querySelector("noscript").textContent, "text/html").querySelector("pre");

const data = new Map();
const drawn = new Map();

class Table {
  constructor(block) {
    this.block = block;
    this.data = data.get(block);
    const texts = plain(block).textContent.split("\n").slice(1).map((line) => line.split("\t"));
    this.what = block.querySelector("summary").textContent;
    this.column = -1;
    this.direction = 1;
    this.case = "";
    this.rows = this.data.rows.map(([looks, filters, key, style], at) => ({ texts: texts[at], looks, filters, key, style }));
    this.build();
  }

  cell(row, column) {
    const [title = 0, sort = "", style = "", chip = ""] = this.data.looks[row.looks[column]];
    const text = row.texts[column];
    return { text, sort: sort || text, title: this.data.titles[title], style, chip };
  }

  build() {
    const { head, numeric, filters } = this.data;
    this.words = element("input", { type: "search", placeholder: "words, all must match", "aria-label": `Filter ${this.what} by words` });
    this.selects = filters.map(([label, values]) => {
      const options = values.map((value) => element("option", {}, value));
      return element("select", { name: label }, element("option", { value: "" }, "all"), ...options);
    });
    this.output = element("output", { "aria-live": "polite" });
    const labels = filters.map(([label, values], at) =>
      element("label", values.length < 2 ? { hidden: "" } : {}, `${label} `, this.selects[at]));
    const controls = element("div", { class: "filters", role: "search" },
      element("label", {}, "Filter ", this.words), ...labels, this.output);
    controls.addEventListener("input", () => { this.case = ""; this.show(); this.remember(); });
    this.heads = head.map(([text, title], column) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        this.direction = this.column === column ? -this.direction : 1;
        this.column = column;
        this.show();
        this.remember();
      });
      return element("th", { scope: "col", title, class: numeric.includes(column) ? "number" : "" }, button);
    });
    this.body = element("tbody");
    const caption = element("caption", { class: "unseen" }, this.what);
    const table = element("table", {}, caption, element("thead", {}, element("tr", {}, element("td"), ...this.heads)), this.body);
    for (const row of this.rows) this.draw(row);
    this.block.append(controls, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": this.what }, table));
  }

  draw(row) {
    const link = element("a", { href: this.address({ case: row.key }), "aria-label": "link to this case" }, "#");
    row.made = element("tr", { class: row.style }, element("td", {}, ...(row.key ? [link] : [])));
    row.looks.forEach((_, column) => {
      const { text, title, style, chip } = this.cell(row, column);
      const number = this.data.numeric.includes(column) ? "number " : "";
      const shown = chip ? element("span", { class: `chip ${chip}` }, text) : text;
      row.made.append(element("td", { class: number + style, ...(title && { title }) }, shown));
    });
    row.text = row.made.textContent.toLowerCase();
  }

  compare(a, b) {
    const [x, y] = [a, b].map((row) => this.cell(row, this.column).sort);
    if (!this.data.numeric.includes(this.column)) return this.direction * x.localeCompare(y, undefined, { numeric: true });
    const [p, q] = [x, y].map((text) => parseFloat(text.replaceAll(",", "")));
    // What was not measured comes last, whichever way the column is sorted.
    if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
    return this.direction * (p - q);
  }

  show() {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => words.every((word) => row.text.includes(word))
      && this.selects.every((select, at) => !select.value || row.filters[at] === select.value);
    const shown = this.rows.filter(fits);
    if (this.column >= 0) shown.sort((a, b) => this.compare(a, b));
    this.heads.forEach((head, column) => {
      if (column === this.column) head.setAttribute("aria-sort", this.direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...shown.map((row) => row.made));
    this.output.textContent = `${shown.length} of ${this.rows.length} ${this.rows.length === 1 ? "row" : "rows"}`;
    for (const row of this.rows) row.made.classList.toggle("found", Boolean(this.case) && row.key === this.case);
    const found = this.case && shown.find((row) => row.key === this.case);
    if (found) found.made.scrollIntoView({ block: "center" });
  }

  address(state) {
    const given = Object.entries(state).filter(([, value]) => value);
    const text = given.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
    return `#${this.block.id}${text ? `?${text}` : ""}`;
  }

  remember() {
    const sort = this.column < 0 ? "" : `${this.column}${this.direction < 0 ? "-" : ""}`;
    const chosen = Object.fromEntries(this.selects.map((select) => [select.name, select.value]));
    history.replaceState(null, "", this.address({ case: this.case, words: this.words.value, sort, ...chosen }));
  }

  recall(state) {
    this.case = state.get("case") ?? "";
    this.words.value = state.get("words") ?? "";
    for (const select of this.selects) {
      const wanted = state.get(select.name) ?? "";
      select.value = [...select.options].some((option) => option.value === wanted) ? wanted : "";
    }
    const sort = /^(\d+)(-?)$/.exec(state.get("sort") ?? "");
    this.column = sort && Number(sort[1]) < this.heads.length ? Number(sort[1]) : -1;
    this.direction = sort && sort[2] ? -1 : 1;
    this.show();
  }
}

const tableOf = (block) => {
  if (!drawn.has(block)) {
    drawn.set(block, new Table(block));
    drawn.get(block).show();
  }
  return drawn.get(block);
};

const follow = () => {
  const [id, state = ""] = location.hash.slice(1).split("?");
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  if (target.matches("details.data")) {
    target.scrollIntoView();
    tableOf(target).recall(new URLSearchParams(state));
  }
};

const start = async () => {
  const blocks = [...document.querySelectorAll("details.data")];
  try {
    await Promise.all(blocks.map(async (block) => data.set(block, await unpacked(block))));
  } catch {
    // A browser from before 2023 cannot unpack: it shows the text.
    for (const block of blocks) block.append(plain(block));
    return;
  }
  for (const block of blocks) {
    block.addEventListener("toggle", () => block.open && tableOf(block));
    if (block.open) tableOf(block);
  }
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => {
    for (const block of document.querySelectorAll("details")) block.open = true;
    blocks.forEach(tableOf);
  });
  follow();
};

const ready = start();
