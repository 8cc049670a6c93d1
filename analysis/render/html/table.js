"use strict";
// A table of a view: sorted by the heads of its columns, filtered by a word.
(() => {
  /// The unit of columns whose rows have units of their own, each in its cell "unit".
  const byRow = "by row";

  /// What is not known stands last in either order.
  const compare = (column, descending) => (a, b) => {
    const x = a.cells[column.name];
    const y = b.cells[column.name];
    const unknown = (x ?? null) === null;
    if (unknown || (y ?? null) === null) return unknown - ((y ?? null) === null);
    return (descending ? d3.descending : d3.ascending)(x, y) || a.order - b.order;
  };

  /// Names first, then numbers; on paper and on a terminal long names stand last.
  const inReadingOrder = (columns) => {
    const rank = (column) => (column.unit !== "text" ? 2 : column.name === "name" ? 0 : 1);
    return columns.map((column, order) => ({ ...column, order })).sort((a, b) => rank(a) - rank(b) || a.order - b.order);
  };

  /// A kernel's own name above all of what it is called.
  const nameCell = (element, name) => {
    const own = gpuspy.ownName(name);
    gpuspy.add(element, "div", "own", own);
    if (own !== name) gpuspy.add(element, "div", "full", name);
  };

  const cell = (element, row, column) => {
    const value = row.cells[column.name];
    const unit = column.unit === byRow ? row.cells.unit : column.unit;
    element.className = unit === "text" ? (column.name === "name" ? "name" : "text") : "number";
    if (element.className === "name" && typeof value === "string") nameCell(element, value);
    else element.textContent = gpuspy.format(value, unit);
    if (unit === "text" && typeof value === "string" && value.length > 40) element.title = value;
    if (unit === "share" && typeof value === "number") {
      element.classList.add("share");
      element.style.setProperty("--share", `${Math.min(100, 100 * value)}%`);
    }
  };

  const head = (row, column, state, show) => {
    const th = gpuspy.add(row, "th", column.unit === "text" ? "text" : "number");
    th.scope = "col";
    th.dataset.column = column.name;
    const button = gpuspy.add(th, "button", "", column.title);
    button.type = "button";
    button.title = `${column.name}: sort`;
    button.addEventListener("click", () => {
      // Numbers from the largest, text from A; the second time the other way round.
      state.descending = state.column === column ? !state.descending : column.unit !== "text";
      state.column = column;
      show();
    });
    return th;
  };

  /// `id`: "view.table". `table`: as docs/report-views.md describes it. `top`: rows that are shown at first.
  gpuspy.table = (parent, id, table, top = gpuspy.data.top || Infinity) => {
    const box = gpuspy.add(parent, "div", "table");
    box.id = `table.${id}`;
    const caption = gpuspy.add(box, "div", "caption");
    gpuspy.add(caption, "h3", "", table.title);
    if (table.remark) gpuspy.add(caption, "span", "remark", table.remark);

    const rows = table.rows.map((cells, order) => ({ cells, order }));
    const columns = inReadingOrder(table.columns);
    const state = { column: null, descending: false, words: [], all: rows.length <= top };

    if (rows.length > 0) {
      if (rows.length > 5) {
        const filter = gpuspy.add(caption, "input", "filter");
        filter.type = "search";
        filter.placeholder = "filter";
        filter.setAttribute("aria-label", `Filter ${table.title}`);
        filter.addEventListener("input", () => {
          state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
          show();
        });
      }
      const scroll = gpuspy.add(box, "div", "scroll");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", table.title);
      const element = gpuspy.add(scroll, "table");
      const headRow = gpuspy.add(gpuspy.add(element, "thead"), "tr");
      const heads = columns.map((column) => head(headRow, column, state, show));
      const body = d3.select(gpuspy.add(element, "tbody"));
      const below = gpuspy.add(box, "div", "below");
      const more = gpuspy.add(below, "button", "more");
      more.type = "button";
      more.addEventListener("click", () => {
        state.all = !state.all;
        show();
      });
      const status = gpuspy.add(below, "span", "status");
      status.setAttribute("role", "status");

      const texts = columns.filter((column) => column.unit === "text");
      const matches = (row) => {
        const text = texts.map((column) => row.cells[column.name] ?? "").join(" ").toLowerCase();
        return state.words.every((word) => text.includes(word));
      };
      function show() {
        const found = rows.filter(matches);
        if (state.column) found.sort(compare(state.column, state.descending));
        const shown = state.all ? found : found.slice(0, top);
        body.selectAll("tr").data(shown, (row) => row.order)
          .join((enter) => enter.append("tr").each(function (row) {
            for (const column of columns) cell(gpuspy.add(this, "td"), row, column);
          }))
          .order();
        heads.forEach((th, at) => {
          if (columns[at] === state.column) th.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
          else th.removeAttribute("aria-sort");
        });
        more.hidden = rows.length <= top;
        more.textContent = state.all ? `Show ${top} rows` : `Show all ${gpuspy.format(found.length, "count")} rows`;
        status.textContent = found.length === rows.length ? "" : `${found.length} of ${rows.length} rows match`;
      }
      show();
    }
    if (rows.length === 0) gpuspy.add(box, "p", "none", "none");
    for (const note of table.notes || []) gpuspy.add(box, "p", "note", note);
    return box;
  };
})();
