import { readFileSync } from 'node:fs';
import { EQUIVALENT } from './equivalent.ts';

/** A change of the sources that no test noticed. */
export interface Survivor {
  /** The path from the repository's root. */
  readonly file: string;
  readonly line: number;
  /** The code before and after, on one line: `a > b → a >= b`. */
  readonly change: string;
  /** Why it changes nothing that a test could notice, if that is known. */
  readonly reason: string | undefined;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly status: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The parts of Stryker's report that are used: https://github.com/stryker-mutator/mutation-testing-elements */
interface Report {
  readonly files: Readonly<Record<string, { source: string; mutants: readonly Mutant[] }>>;
}

const survived = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';
const noticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';

/**
 * How many changes were noticed, in percent.
 * @param path of a JSON report of Stryker
 */
export function scoreIn(path: string): number {
  const mutants = Object.values(reportOf(path).files).flatMap((file) => file.mutants);
  const count = mutants.filter(noticed).length;
  return (100 * count) / (count + mutants.filter(survived).length);
}

const reportOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Report;

/** @param path of a JSON report of Stryker */
export function survivorsIn(path: string): Survivor[] {
  return Object.entries(reportOf(path).files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(survived).map(({ location, replacement }) => {
      const change = `${oneLine(textAt(source, location))} → ${oneLine(replacement)}`;
      return { file, line: location.start.line, change, reason: EQUIVALENT[file]?.[change] };
    }),
  );
}

/** The code at a location. Lines and columns count from 1. */
function textAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = (lines.pop() ?? '').slice(0, end.column - 1);
  return [...lines, last].join('\n').slice(start.column - 1);
}

/** On one line, and not much longer than a name for it has to be. */
const oneLine = (code: string) => {
  const text = code.replace(/\s+/g, ' ').trim();
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};
