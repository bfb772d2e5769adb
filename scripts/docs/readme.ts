import { configTable } from '../../config/describe.ts';

const BEGIN = '<!-- configuration table: begin (made by scripts/generate-docs.ts) -->';
const END = '<!-- configuration table: end -->';

/** The README with the table of all configuration keys between its marks. */
export function withConfigTable(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md lacks the marks "${BEGIN}" and "${END}"`);
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${configTable()}\n\n${readme.slice(end)}`;
}
