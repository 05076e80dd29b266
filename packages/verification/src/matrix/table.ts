import type { Observation } from './try-row.ts';

/** What was seen of one row, by target. */
export interface RowSeen {
  readonly name: string;
  /** Shown in place of what was seen: it depends on Node's version. */
  readonly oneOf: readonly string[] | undefined;
  readonly seen: ReadonlyMap<string, Observation>;
}

export interface GroupSeen {
  readonly title: string;
  readonly rows: readonly RowSeen[];
}

/** The table of the docs, in Markdown. */
export function tableOf(groups: readonly GroupSeen[], targets: readonly string[]): string {
  return groups.map((group) => groupTable(group, targets)).join('\n\n');
}

function groupTable({ title, rows }: GroupSeen, targets: readonly string[]): string {
  const header = ['input', ...targets, 'logged'];
  const lines = [header, header.map(() => '---'), ...rows.map((row) => cells(row, targets))];
  return [`### ${title}`, '', ...lines.map((line) => `| ${line.join(' | ')} |`)].join('\n');
}

function cells({ name, oneOf, seen }: RowSeen, targets: readonly string[]): string[] {
  if (oneOf) return [name, ...targets.map(() => oneOf.join(' or ')), 'as answered'];
  const answers = targets.map((target) => seen.get(target)?.answer ?? '');
  return [name.replaceAll('|', '\\|'), ...answers, logged([...seen.values()])];
}

/** The codes of the lines; the lines themselves hold ids, which differ. */
function logged(observations: readonly Observation[]): string {
  const codes = observations.flatMap(({ logged: lines }) =>
    (lines ?? []).map((line) => /\d{3} ([a-z-]+):/.exec(line)?.[1] ?? 'another line'),
  );
  return [...new Set(codes)].join(', ') || 'nothing';
}
