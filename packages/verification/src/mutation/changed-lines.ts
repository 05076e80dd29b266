import { execFileSync } from 'node:child_process';

/** Lines of a file that follow each other. Lines count from 1, and the last one is part of it. */
export interface Lines {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/**
 * The lines of TypeScript that differ from another commit, without those that only went.
 * @param root the repository's root
 * @param ref the other commit
 */
export function changedLines(root: string, ref: string): Lines[] {
  const args = ['diff', '--unified=0', '--no-color', '--no-ext-diff', ref, '--', 'packages/*.ts'];
  const diff = execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return linesOf(diff);
}

/** @param diff of `git diff --unified=0` */
export function linesOf(diff: string): Lines[] {
  const found: Lines[] = [];
  let file = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length);
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined || count === '0') continue;
    const first = Number(start);
    found.push({ file, first, last: first + Number(count) - 1 });
  }
  return found;
}

/** As many of them, from the start, as have no more lines than that together. */
export function atMost(max: number, all: readonly Lines[]): Lines[] {
  let left = max;
  return all.filter(({ first, last }) => (left -= last - first + 1) >= 0);
}
