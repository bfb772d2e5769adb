const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with its text. Text is only ever set as text: names and explanations come from agents.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {{ className?: string, text?: string, title?: string }} [options]
 * @param {...Node} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, { className, text, title } = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (title !== undefined) made.title = title;
  made.append(...children);
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
export function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/**
 * A table with a head row. A column is its title and the class of its cells.
 * @param {readonly (readonly [title: string, className: string])[]} columns
 * @param {readonly HTMLTableRowElement[]} rows
 * @param {string} [caption]
 */
export function table(columns, rows, caption) {
  const head = element('tr');
  for (const [title, className] of columns) {
    const cell = element('th', { className, text: title });
    cell.scope = 'col';
    head.append(cell);
  }
  const made = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  if (caption !== undefined) made.prepend(element('caption', { text: caption }));
  return made;
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

/**
 * A cell with a moment: the time of today, else the date with it. The title has both.
 * @param {number} seconds since the epoch
 */
export function momentCell(seconds) {
  const date = new Date(seconds * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  const text = isToday ? date.toLocaleTimeString() : date.toLocaleString();
  return element('td', { className: 'moment', text, title: date.toLocaleString() });
}
