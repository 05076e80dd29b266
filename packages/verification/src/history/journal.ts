import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Line } from './line.ts';

/**
 * The journal of a run: one file to which all processes append, a line in one write, so that what was
 * written survives `kill -9` of its writer.
 */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(line: Line): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** As `write`, and it is on the disk: for effects, which stand for a commit in somebody's CRM. */
  writeDurably(line: Line): void {
    this.write(line);
    fsyncSync(this.#file);
  }
}

export function readJournal(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line);
}
