import type { Observation } from './try-row.ts';

/** The observations of one row, by target. */
export interface RowResult {
  readonly name: string;
  /** Shown instead of the observations, when they depend on the version of Node. */
  readonly oneOf: readonly string[] | undefined;
  readonly seen: ReadonlyMap<string, Observation>;
}

export interface GroupResult {
  readonly title: string;
  readonly rows: readonly RowResult[];
}

/** The table for the docs, in Markdown. */
export function tableOf(groups: readonly GroupResult[], targets: readonly string[]): string {
  return groups.map((group) => groupTable(group, targets)).join('\n\n');
}

function groupTable({ title, rows }: GroupResult, targets: readonly string[]): string {
  const header = ['input', ...targets, 'logged'];
  const lines = [header, header.map(() => '---'), ...rows.map((row) => cells(row, targets))];
  return [`### ${title}`, '', ...lines.map((line) => `| ${line.join(' | ')} |`)].join('\n');
}

function cells({ name, oneOf, seen }: RowResult, targets: readonly string[]): string[] {
  if (oneOf) return [name, ...targets.map(() => oneOf.join(' or ')), 'as answered'];
  const responses = targets.map((target) => seen.get(target)?.response ?? '');
  return [name.replaceAll('|', '\\|'), ...responses, logged([...seen.values()])];
}

/** The codes of the log lines. The lines themselves contain ids, which differ. */
function logged(observations: readonly Observation[]): string {
  const codes = observations.flatMap(({ logged: lines }) =>
    (lines ?? []).map((line) => /\d{3} ([a-z-]+):/.exec(line)?.[1] ?? 'another line'),
  );
  return [...new Set(codes)].join(', ') || 'nothing';
}
