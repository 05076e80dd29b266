import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../../docs/cost.md', import.meta.url));

/** The figures of a row of a table: the first number of each cell. @param heading of the table's section */
export async function figuresOf(heading: string, row: string): Promise<number[]> {
  const page = await readFile(PAGE, 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const line = own.split('\n').find((text) => text.startsWith(`| ${row} `));
  if (line === undefined) throw new Error(`${PAGE} has no row "${row}" below "${heading}".`);
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => Number(/\d[\d,.]*/.exec(cell)?.[0].replaceAll(',', '')));
}
