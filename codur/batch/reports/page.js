"use strict";
// Builds the page from its data. Texts of the data become text nodes or attribute values, never markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const several = { agents: data.agents.length > 1, attempts: data.rows.some((row) => row.attempt > 1) };
  const agentNames = data.agents.map((agent) => agent.agent);

  const STATUS = {
    solved: { word: "solved", sign: "✔" },
    failed: { word: "not solved", sign: "✘" },
    passes: { word: "already passes", sign: "=" },
    error: { word: "error", sign: "!" },
    limit: { word: "limit", sign: "◔" },
  };
  const STATUSES = Object.keys(STATUS);
  const TIERS = Object.keys(data.tiers);

  // --- texts ---------------------------------------------------------------------------------------------------

  // Characters that would act on the reader's eye instead of being seen: controls, BiDi and zero-width characters.
  const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const named = (char) => `‹U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
  const seen = (text) => String(text).replace(/\r\n/g, "\n").replace(UNSEEN, named);

  const count = (number) => number.toLocaleString("en-GB");
  const nouns = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
  const money = (usd) => (usd === 0 ? "$0" : usd >= 1 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(4)}`);
  const seconds = (value) => (value < 100 ? `${value.toFixed(1)} s` : duration(value));
  const percent = (part, whole) => (whole ? `${Math.floor((100 * part) / whole)} %` : "–");

  function duration(value) {
    if (value < 10) return `${value.toFixed(1)} s`;
    const whole = Math.round(value);
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  const FORMATS = { count, usd: money, seconds };

  // --- elements ------------------------------------------------------------------------------------------------

  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== "") node.append(typeof child === "string" ? seen(child) : child);
    }
    return node;
  }

  const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  function statusMark(status) {
    const { word, sign } = STATUS[status];
    return el("span", { class: `status ${status}` }, el("span", { class: "sign", "aria-hidden": "true" }, sign), word);
  }

  const series = (index) => `s${index % 6}`;

  // --- head ----------------------------------------------------------------------------------------------------

  function drawHead() {
    document.title = seen(data.title);
    byId("title").textContent = seen(data.title);
    const challenges = new Set(data.rows.map((row) => row.name)).size;
    const parts = [nouns(challenges, "challenge")];
    if (several.agents) parts.push(nouns(agentNames.length, "agent"));
    if (data.rows.length !== challenges) parts.push(nouns(data.rows.length, "result"));
    if (data.started) parts.push(`started ${data.started.slice(0, 16).replace("T", " ")} UTC`);
    byId("subtitle").textContent = seen(parts.join(" · "));
  }

  function drawSummary() {
    const { totals } = data;
    const solved = totals.by_status.solved;
    const bar = svg("svg", { class: "share", viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    let from = 0;
    for (const status of STATUSES) {
      const width = totals.results ? (1000 * totals.by_status[status]) / totals.results : 0;
      if (width) bar.append(svg("rect", { class: status, x: from, y: 0, width, height: 10 }));
      from += width;
    }
    const ends = STATUSES.map((status) => el("li", {}, statusMark(status), el("b", {}, count(totals.by_status[status]))));
    const figures = [
      ["without a model", `${count(totals.without_model)} of ${count(solved)}`],
      ["model calls", count(totals.calls)],
      ["tokens", count(totals.tokens)],
      ["cost", money(totals.cost_usd)],
      ["time, all results", duration(totals.seconds)],
    ];
    byId("summary").append(
      el(
        "div",
        { class: "score" },
        el("p", { class: "big" }, el("b", {}, count(solved)), ` of ${count(totals.results)} solved`,
          el("span", { class: "muted" }, ` ${percent(solved, totals.results)}`)),
        bar,
        el("ul", { class: "ends" }, ends),
      ),
      el("dl", { class: "figures" }, figures.map(([word, value]) => el("div", {}, el("dt", {}, word), el("dd", {}, value)))),
    );
  }

  // --- charts --------------------------------------------------------------------------------------------------

  const BARS = agentNames.length > 1 ? { bar: 10, gap: 2, between: 9 } : { bar: 15, gap: 4, between: 11 };
  const GROUP = (BARS.bar + BARS.gap) * agentNames.length - BARS.gap + BARS.between;
  const BARS_HEIGHT = GROUP * data.bars.length + 12;
  const FRAME = { width: 340, height: Math.min(300, Math.max(210, BARS_HEIGHT)), left: 34, right: 12, top: 20, bottom: 38 };

  function ticks(most, whole) {
    const rough = most / 5;
    const power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power)
      .find((size) => size >= rough && (!whole || Number.isInteger(size))) || 1;
    const found = [];
    for (let index = 0; index * step <= most * 1.0001; index += 1) found.push(index * step);
    return found;
  }

  function short(value, unit) {
    if (unit === "count") return count(value);
    const text = Number(value.toPrecision(3));
    return unit === "usd" ? `$${text}` : `${text} s`;
  }

  function drawCurves(chart) {
    const { width, height, left, right, top, bottom } = FRAME;
    const most = Math.max(0, ...chart.curves.flatMap((curve) => curve.points.map((point) => point[0])));
    const results = Math.max(1, ...chart.curves.map((curve) => curve.results));
    const unitless = chart.unit === "count";
    const far = most || 1;
    const x = (value) => left + ((width - left - right) * value) / far;
    const y = (value) => height - bottom - ((height - top - bottom) * value) / results;
    const told = chart.curves.map((curve) => {
      const last = curve.points[curve.points.length - 1];
      return `${curve.agent}: ${last ? last[1] : 0} of ${curve.results} solved${last ? `, all with ${FORMATS[chart.unit](last[0])} or less` : ""}`;
    });
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": seen(`${chart.title}. ${told.join("; ")}.`) });
    for (const value of ticks(results, true)) {
      drawing.append(
        svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick end", x: left - 6, y: y(value) + 3.5 }, count(value)),
      );
    }
    if (most) {
      for (const value of ticks(far, unitless)) {
        drawing.append(
          svg("line", { class: "axis", x1: x(value), x2: x(value), y1: height - bottom, y2: height - bottom + 3 }),
          svg("text", { class: "tick middle", x: x(value), y: height - bottom + 14 }, short(value, chart.unit)),
        );
      }
    } else {
      drawing.append(svg("text", { class: "tick", x: left, y: height - bottom + 14 }, short(0, chart.unit)));
    }
    drawing.append(
      svg("line", { class: "all", x1: left, x2: width - right, y1: y(results), y2: y(results) }),
      svg("text", { class: "tick end", x: width - right, y: y(results) - 4 }, `all ${count(results)}`),
      svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
      svg("text", { class: "axis-title middle", x: (left + width - right) / 2, y: height - 5 }, chart.axis),
    );
    chart.curves.forEach((curve, index) => {
      if (!curve.points.length) return;
      let path = `M${x(0)},${y(0)}`;
      for (const [value, number] of curve.points) path += `H${x(value).toFixed(1)}V${y(number).toFixed(1)}`;
      const [last, number] = curve.points[curve.points.length - 1];
      drawing.append(
        svg("path", { class: `curve ${series(index)}`, d: `${path}H${x(far).toFixed(1)}` }),
        svg("circle", { class: `dot ${series(index)}`, cx: x(last), cy: y(number), r: 3 },
          svg("title", {}, `${curve.agent}: ${number} of ${curve.results}`)),
      );
    });
    return card(chart.title, drawing);
  }

  function drawBars() {
    const room = { label: 92, value: 34, width: 340 };
    const most = Math.max(1, ...data.bars.flatMap((bar) => bar.counts));
    const height = Math.max(FRAME.height, BARS_HEIGHT);
    const told = data.bars.map((bar) => `${bar.word}: ${bar.counts.map((number, index) => (several.agents ? `${agentNames[index]} ${number}` : number)).join(", ")}`);
    const drawing = svg("svg", { viewBox: `0 0 ${room.width} ${height}`, role: "img", "aria-label": seen(`Solved by. ${told.join("; ")}.`) });
    data.bars.forEach((bar, row) => {
      const top = 8 + row * GROUP;
      const middle = top + (GROUP - BARS.between) / 2 + 4;
      drawing.append(svg("text", { class: "label end", x: room.label - 8, y: middle }, bar.word));
      bar.counts.forEach((number, index) => {
        const y = top + index * (BARS.bar + BARS.gap);
        const width = ((room.width - room.label - room.value) * number) / most;
        drawing.append(
          svg("rect", { class: `bar ${series(index)}`, x: room.label, y, width: Math.max(width, number ? 2 : 0), height: BARS.bar, rx: 2 }),
          svg("text", { class: "label", x: room.label + width + 6, y: y + BARS.bar / 2 + 4 }, count(number)),
        );
      });
    });
    if (!data.bars.length) drawing.append(svg("text", { class: "tick middle", x: room.width / 2, y: height / 2 }, "nothing was solved"));
    return card("Solved by", drawing);
  }

  const card = (title, drawing) => el("figure", { class: "card" }, el("figcaption", {}, title), drawing);

  function drawCharts() {
    const place = byId("charts");
    if (several.agents) {
      const keys = agentNames.map((name, index) =>
        el("li", {}, svg("svg", { class: "key", viewBox: "0 0 22 8", "aria-hidden": "true" },
          svg("line", { class: `curve ${series(index)}`, x1: 0, x2: 22, y1: 4, y2: 4 })), el("bdi", {}, name)));
      place.append(el("ul", { class: "legend", "aria-label": "Agents in the charts" }, keys));
    }
    place.append(el("div", { class: "cards" }, drawBars(), data.charts.map(drawCurves)));
  }

  // --- comparison ----------------------------------------------------------------------------------------------

  function grid(head, rows, caption) {
    const cells = (tag, items) => items.map((item, index) =>
      el(index ? tag : "th", { scope: tag === "th" ? "col" : index ? null : "row", class: index ? "number" : "name" }, item));
    return el("table", { class: "grid" }, el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, cells("th", head))),
      el("tbody", {}, rows.map((row) => el("tr", {}, cells("td", row)))));
  }

  function drawAgents() {
    if (!several.agents) return;
    byId("agents").hidden = false;
    const best = Math.max(...data.agents.map((agent) => agent.solved));
    const rows = data.agents.map((agent) => [
      el("bdi", {}, agent.agent),
      el("span", { class: agent.solved === best && best ? "best" : null }, `${count(agent.solved)} of ${count(agent.challenges)}`),
      count(agent.alone),
      count(agent.calls),
      agent.calls_per_solved === null ? "–" : agent.calls_per_solved.toFixed(1),
      count(agent.tokens),
      money(agent.cost_usd),
      agent.cost_per_solved === null ? "–" : money(agent.cost_per_solved),
      seconds(agent.median_seconds),
    ]);
    byId("agents-table").append(grid(
      ["agent", "solved", "alone", "calls", "calls per solved", "tokens", "cost", "cost per solved", "median time"],
      rows, "The agents side by side"));
    byId("agents").insertBefore(el("p", { class: "note" }, `${nouns(data.any, "challenge")} of ${count(data.matrix.length)} solved by one agent at least. “Alone” counts those that no other agent solved; costs and calls are those of all its attempts.`), byId("matrix-details"));
    const differ = byId("matrix-differ");
    const draw = () => byId("matrix-table").replaceChildren(matrix(differ.checked));
    differ.addEventListener("change", draw);
    byId("matrix-details").addEventListener("toggle", draw, { once: true });
  }

  function matrix(onlyDifferent) {
    const different = ([, cells]) => new Set(cells.map((cell) => (cell === null ? null : cell[0] > 0))).size > 1;
    const rows = data.matrix.filter((row) => !onlyDifferent || different(row));
    if (!rows.length) return el("p", { class: "note" }, "The agents solved the same challenges.");
    return grid(["challenge", ...agentNames], rows.map(([name, cells]) => [el("bdi", {}, name), ...cells.map(tried)]), "Who solved what");
  }

  function tried(cell) {
    if (cell === null) return el("span", { class: "muted" }, "not tried");
    const [solved, attempts] = cell;
    const status = solved ? "solved" : "failed";
    return el("span", { class: `status ${status}` }, el("span", { class: "sign", "aria-hidden": "true" }, STATUS[status].sign),
      attempts > 1 ? `${solved} of ${attempts}` : el("span", { class: "unseen" }, STATUS[status].word));
  }

  function drawPass() {
    if (!data.passAtK.length) return;
    byId("pass").hidden = false;
    const numbers = [...new Set(data.passAtK.map((entry) => entry.k))].sort((a, b) => a - b);
    const rows = agentNames.filter((name) => data.passAtK.some((entry) => entry.agent === name)).map((name) => [
      el("bdi", {}, name),
      ...numbers.map((k) => {
        const entry = data.passAtK.find((one) => one.agent === name && one.k === k);
        return entry ? el("span", {}, `${(100 * entry.value).toFixed(1)} %`, el("span", { class: "muted" }, ` (${entry.challenges})`)) : "–";
      }),
    ]);
    byId("pass-table").append(grid(["agent", ...numbers.map((k) => `pass@${k}`)], rows, "pass@k, and over how many challenges"));
  }

  // --- results -------------------------------------------------------------------------------------------------

  const text = (row, key) => row[key].toLowerCase();
  const COLUMNS = [
    { key: "name", word: "Challenge", value: (row) => text(row, "name") },
    several.agents && { key: "agent", word: "Agent", value: (row) => text(row, "agent"), show: (row) => el("bdi", {}, row.agent) },
    several.attempts && { key: "attempt", word: "Attempt", value: (row) => row.attempt, show: (row) => count(row.attempt), number: true },
    { key: "status", word: "Status", value: (row) => STATUSES.indexOf(row.status), show: (row) => statusMark(row.status) },
    { key: "tier", word: "Solved by", value: (row) => (TIERS.indexOf(row.tier) || TIERS.length), show: (row) => (row.status === "solved" ? el("span", { class: "tier" }, data.tiers[row.tier] + (row.retries ? ` ${row.retries}` : "")) : "") },
    { key: "calls", word: "Calls", value: (row) => row.calls, show: (row) => count(row.calls), number: true },
    { key: "tokens", word: "Tokens", value: (row) => row.tokens, show: (row) => count(row.tokens), number: true },
    { key: "cost", word: "Cost", value: (row) => row.cost_usd, show: (row) => money(row.cost_usd), number: true },
    { key: "seconds", word: "Time", value: (row) => row.seconds, show: (row) => seconds(row.seconds), number: true },
    { key: "reason", word: "Reason", value: (row) => text(row, "reason"), show: (row) => el("bdi", {}, firstLine(row.reason || row.explanation)) },
  ].filter(Boolean);

  const firstLine = (value) => value.split("\n", 1)[0];
  const collator = new Intl.Collator("en", { numeric: true });
  const order = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));

  const items = data.rows.map((row, index) => ({
    row,
    index,
    words: [row.name, row.reason, row.explanation, row.prompt, row.check, row.solved_by, ...row.changed_files].join("\n").toLowerCase(),
    line: null,
    detail: null,
  }));
  const sorting = { key: "", down: false };

  function drawHeadings() {
    for (const column of COLUMNS) {
      const button = el("button", { type: "button" }, column.word, el("span", { class: "arrow", "aria-hidden": "true" }));
      button.addEventListener("click", () => sortBy(column.key));
      byId("headings").append(
        el("th", { role: "columnheader", scope: "col", "data-key": column.key, "aria-sort": "none", class: `${column.key}${column.number ? " number" : ""}` }, button));
    }
  }

  function sortBy(key) {
    sorting.down = sorting.key === key && !sorting.down;
    sorting.key = key;
    const { value } = COLUMNS.find((column) => column.key === key);
    const sign = sorting.down ? -1 : 1;
    items.sort((a, b) => sign * order(value(a.row), value(b.row)) || a.index - b.index);
    for (const heading of byId("headings").children) {
      const now = heading.dataset.key === key ? (sorting.down ? "descending" : "ascending") : "none";
      heading.setAttribute("aria-sort", now);
    }
    arrange();
  }

  function arrange() {
    const all = document.createDocumentFragment();
    for (const item of items) {
      all.append(item.line);
      if (item.detail) all.append(item.detail);
    }
    byId("rows").replaceChildren(all);
  }

  function drawRow(item) {
    const { row } = item;
    const button = el("button", { type: "button", class: "open", "aria-expanded": "false" },
      el("span", { class: "chevron", "aria-hidden": "true" }), el("bdi", {}, row.name));
    const cells = COLUMNS.map((column) =>
      column.key === "name"
        ? el("th", { role: "rowheader", scope: "row", class: "name" }, button)
        : el("td", { role: "cell", class: `${column.key}${column.number ? " number" : ""}`, "data-word": column.word }, column.show(row)));
    item.line = el("tr", { role: "row", class: `line ${row.status}` }, cells);
    item.line.addEventListener("click", () => {
      if (!String(window.getSelection())) toggle(item, button);
    });
  }

  function toggle(item, button) {
    const open = button.getAttribute("aria-expanded") !== "true";
    if (open && !item.detail) {
      const id = `detail-${item.index}`;
      item.detail = el("tr", { role: "row", class: "detail", id },
        el("td", { role: "cell", colspan: String(COLUMNS.length) }, details(item.row)));
      item.line.after(item.detail);
      button.setAttribute("aria-controls", id);
    }
    item.detail.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    item.line.classList.toggle("is-open", open);
  }

  // --- one result ----------------------------------------------------------------------------------------------

  function details(row) {
    const said = [row.reason && ["reason", row.reason], row.explanation && row.explanation !== row.reason && ["explanation", row.explanation]].filter(Boolean);
    return el("div", { class: "details" },
      said.map(([kind, words]) => el("p", { class: `said ${kind}`, dir: "auto" }, words)),
      el("div", { class: "pair wide-left" },
        part("Change", row.diff ? diff(row.diff) : el("p", { class: "note" }, "Nothing was changed.")),
        el("div", { class: "aside" }, part("Route", row.route.length ? route(row.route) : el("p", { class: "note" }, "No decision is on record.")), part("Facts", facts(row)))),
      el("div", { class: "pair" },
        part("Check before", output(row.output_before, "Not run, or it said nothing.")),
        part("Check at the end", output(row.output_after, row.status === "solved" ? "It passes and said nothing more." : "Not run, or it said nothing."))),
      row.prompt ? part("Task", output(row.prompt, "")) : null,
      row.notes.length ? part("Notes", el("ul", { class: "notes" }, row.notes.map((note) => el("li", { dir: "auto" }, note)))) : null,
    );
  }

  const part = (title, content) => el("section", { class: "part" }, el("h3", {}, title), content);

  // a box that scrolls has to be reachable without a mouse
  const box = (kind, label, ...children) => el("pre", { class: kind, tabindex: "0", role: "region", "aria-label": label }, ...children);
  const output = (words, none) => (words ? box("output", "output", words) : el("p", { class: "note" }, none));

  const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

  function diff(words) {
    // a hunk's head says how many lines it has: only so can a removed "-- x" be told from the head of the next file
    let [old, fresh] = [0, 0];
    const kindOf = (line) => {
      const head = HUNK.exec(line);
      if (head) {
        [old, fresh] = [Number(head[1] ?? 1), Number(head[2] ?? 1)];
        return "hunk";
      }
      if (old <= 0 && fresh <= 0) return line.startsWith("\\") || line.startsWith("…") ? "muted" : "file";
      const sign = line[0];
      if (sign === "\\") return "muted";
      if (sign !== "+") old -= 1;
      if (sign !== "-") fresh -= 1;
      return { "+": "add", "-": "del" }[sign] || "same";
    };
    const lines = words.replace(/\n$/, "").split("\n").map((line) => el("span", { class: kindOf(line) }, line || " ", "\n"));
    return box("diff", "diff", lines);
  }

  function route(entries) {
    return el("ol", { class: "route" }, entries.map(({ node, route: next, origin, tier, reason }) =>
      el("li", {},
        el("span", { class: "node" }, node), " → ", el("span", { class: "node" }, next), " ",
        el("span", { class: `badge ${["deterministic", "guided", "open"].includes(tier) ? `tier-${tier}` : ""}` }, tier), " ",
        el("span", { class: "muted" }, origin),
        reason ? el("span", { class: "why", dir: "auto" }, reason) : null)));
  }

  function facts(row) {
    const pairs = [
      ["check", row.check], ["verdict", row.verdict], ["solved by", row.solved_by], ["agent", row.agent], ["attempt", several.attempts ? count(row.attempt) : ""],
      ["tries judged", count(row.attempts)], ["files", row.changed_files.join(", ")], ["patch", row.patch],
      ["run", row.kept && el("a", { href: `${row.kept}/` }, row.kept)], ["failure", row.signature],
      ["SHA-256", row.verified], ["sandbox", row.sandbox], ["directory", row.directory], ["started", row.started],
    ];
    return el("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([word, value]) =>
      el("div", {}, el("dt", {}, word), el("dd", { dir: "auto" }, value))));
  }

  // --- filters -------------------------------------------------------------------------------------------------

  const filters = { text: byId("filter-text"), status: byId("filter-status"), tier: byId("filter-tier"), agent: byId("filter-agent") };

  function drawFilters() {
    const option = (value, word) => el("option", { value }, word);
    filters.status.append(...STATUSES.filter((status) => data.totals.by_status[status]).map((status) => option(status, STATUS[status].word)));
    filters.tier.append(...data.bars.map((bar) => option(bar.tier, bar.word)));
    filters.agent.append(...agentNames.map((name) => option(name, name)));
    byId("filter-agent-label").hidden = !several.agents;
    const form = byId("filters");
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
  }

  function fits({ row, words }) {
    const asked = filters.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    return (
      (!filters.status.value || row.status === filters.status.value) &&
      (!filters.tier.value || (row.status === "solved" && row.tier === filters.tier.value)) &&
      (!filters.agent.value || row.agent === filters.agent.value) &&
      asked.every((word) => words.includes(word))
    );
  }

  function filter() {
    let shown = 0;
    for (const item of items) {
      const fit = fits(item);
      shown += fit ? 1 : 0;
      item.line.hidden = !fit;
      if (item.detail) item.detail.hidden = !fit || !item.line.classList.contains("is-open");
    }
    byId("shown").textContent = shown === items.length ? nouns(shown, "result") : `${count(shown)} of ${nouns(items.length, "result")}`;
    byId("empty").hidden = shown > 0;
  }

  drawHead();
  drawSummary();
  drawCharts();
  drawAgents();
  drawPass();
  drawFilters();
  drawHeadings();
  items.forEach(drawRow);
  arrange();
  filter();
})();
