/** @import { AttemptsPage } from '../pages.ts' */
import { element, momentCell, table } from './elements.js';

/** @type {readonly (readonly [string, string])[]} */
const COLUMNS = [
  ['Attempt', 'name'],
  ['State', ''],
  ['Records', 'number'],
  ['Pending', 'number'],
  ['Failures', 'number'],
  ['Last activity', ''],
];

/**
 * @param {AttemptsPage['attempts']} attempts
 * @param {string | null} opened
 * @returns {HTMLElement}
 */
export function drawAttempts(attempts, opened) {
  if (attempts.length === 0) return element('p', { className: 'dim', text: 'There are no attempts.' });
  const rows = attempts.map((row) => {
    const link = element('a', { text: row.attempt });
    link.href = `#${encodeURIComponent(row.attempt)}`;
    const drawn = element(
      'tr',
      {},
      element('td', { className: 'name' }, link),
      element('td', { text: row.state }),
      element('td', { className: 'number', text: String(row.records) }),
      element('td', { className: row.pending > 0 ? 'number wait' : 'number', text: String(row.pending) }),
      element('td', { className: row.failures > 0 ? 'number bad' : 'number', text: String(row.failures) }),
      momentCell(row.last_activity_at),
    );
    if (row.attempt === opened) drawn.setAttribute('aria-current', 'true');
    return drawn;
  });
  return table(COLUMNS, rows);
}
