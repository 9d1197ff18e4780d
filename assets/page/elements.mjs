/**
 * The building blocks of the page. Text of agents is data: it is set as text, without invisible
 * characters, and never as markup.
 */

const TEXT_LENGTH = 300;

/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement}
 */
export function find(selector, within = document) {
  const found = within.querySelector(selector);
  if (found instanceof HTMLElement) return found;
  throw new Error(`the page has no ${selector}`);
}

/**
 * One line of what an agent wrote: without controls, direction overrides and what is invisible
 * (the joiner of emoji stays), with a few marks on a letter and not hundreds.
 * @param {string} text
 */
export function clean(text) {
  const visible = text
    .replace(/\s+/gu, " ")
    .replace(/(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}]/gu, "")
    .replace(/(\p{M}{4})\p{M}+/gu, "$1")
    .trim();
  if (visible === "") return "(nothing visible)";
  return visible.length > TEXT_LENGTH ? `${visible.slice(0, TEXT_LENGTH)}…` : visible;
}

/**
 * @param {string} tag
 * @param {{ readonly class?: string, readonly text?: string, readonly title?: string }} [options]
 * @param {...Node} children
 */
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  if (options.class) made.className = options.class;
  if (options.text !== undefined) made.textContent = clean(options.text);
  if (options.title !== undefined) made.title = clean(options.title);
  made.append(...children);
  return made;
}

/** @param {string} text */
export const bdi = (text) => element("bdi", { text, title: text });

/** @param {string} id */
export const shortId = (id) => (/^[0-9a-f]{32}$/.test(id) ? id.slice(0, 8) : id);

/** @param {string} id */
export const idOf = (id) => element("small", { class: "id", text: shortId(id), title: id });

/** @param {string} status */
export function statusOf(status) {
  const made = element("span", { class: "status", text: status });
  made.dataset["status"] = status;
  return made;
}

/** @param {string} headline */
export function headlineOf(headline) {
  const made = statusOf(headline);
  made.dataset["headline"] = headline;
  return made;
}

/**
 * A moment that `tick` keeps in words.
 * @param {number} atMs
 * @param {"ago" | "left"} way
 */
export function moment(atMs, way = "ago") {
  const made = document.createElement("time");
  made.dateTime = new Date(atMs).toISOString();
  made.title = new Date(atMs).toLocaleString();
  made.dataset[way] = String(atMs);
  return made;
}

/** @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** @param {number} value */
export const number = (value) => value.toLocaleString("en");

/**
 * @param {string} className
 * @param {...Node} children
 */
export const cell = (className, ...children) => element("td", { class: className }, ...children);

/**
 * @param {...(Node | string)} children
 * @returns {HTMLTableCellElement}
 */
export function rowHead(...children) {
  const made = document.createElement("th");
  made.scope = "row";
  made.append(...children);
  return made;
}

/** @param {readonly string[]} tools */
export const toolList = (tools) =>
  tools.map((tool) => element("span", { class: "tool", text: tool }));
