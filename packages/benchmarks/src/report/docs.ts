import { readFileSync, writeFileSync } from 'node:fs';
import { THIS_VERSION } from '../checkout.ts';
import { chart, floorsChart } from './chart.ts';
import { BEFORE_GOALS, figures, memoryLines } from './figures.ts';
import type { Results } from './results.ts';
import { measuredSections } from './sections.ts';
import { markdownTable, sectionMarkdown } from './tables.ts';

const PAGE = `${THIS_VERSION}/docs/performance.md`;
const CHART = `${THIS_VERSION}/docs/images/performance.svg`;
const FLOORS_CHART = 'images/performance-floors.svg';

/** Writes the figures into the page between its markers, and draws the charts. */
export function writeDocs(results: Results): void {
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, 'utf8'), results));
  if (results.parts.http) writeFileSync(CHART, chart(results.parts.http));
  const floors = floorsChart(results.parts);
  if (floors !== undefined) writeFileSync(`${THIS_VERSION}/docs/${FLOORS_CHART}`, floors);
}

/** @throws Error when a marker is missing */
export function withFigures(page: string, results: Results): string {
  const { machine, parts, memory } = results;
  const { cpu, cores, node } = machine;
  // Next has more of them than the others.
  const rounds = Math.min(...Object.values(parts).map((list) => list.length));
  const how = `${rounds} rounds, Node ${node.slice(1)}, ${cores} cores of ${cpu ?? 'an unknown processor'}.`;
  const before = figures(parts, BEFORE_GOALS);
  let withTables = between(
    page,
    'figures',
    [how, markdownTable('figure', figures(parts)), ...memoryLines(memory)].join('\n\n'),
  );
  for (const section of measuredSections(results))
    withTables = between(withTables, section.name, sectionMarkdown(section));
  if (floorsChart(parts) !== undefined)
    withTables = between(
      withTables,
      'floors chart',
      `![Bars: deliveries and jobs per second with stores, queues and workers, as multiples of bare statements and calls](${FLOORS_CHART})`,
    );
  if (before.length === 0) return withTables;
  return between(withTables, 'before and after', markdownTable('CPU ÷ CPU before', before));
}

function between(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- begin: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no ${begin} … ${end}.`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}
