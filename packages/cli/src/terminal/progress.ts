import type { Io } from '../io.ts';
import { size } from './bytes.ts';
import type { Ink } from './ink.ts';

/** A bar on stderr. */
export interface ProgressBar {
  at(received: number, total: number | undefined): void;
  /** Takes it away. */
  clear(): void;
}

const WIDTH = 30;
/** Milliseconds between two drawings. */
const PACE = 80;

/** Draws on a terminal only; elsewhere it does nothing. */
export function progressBar({ stderr }: Io, ink: Ink): ProgressBar {
  if (stderr.isTTY !== true) return { at: () => undefined, clear: () => undefined };
  let drawn = -Infinity;
  return {
    at(received, total) {
      const now = performance.now();
      if (now - drawn < PACE && received !== total) return;
      drawn = now;
      stderr.write(`\r\u001b[K${barText(ink, received, total)}`);
    },
    clear() {
      if (drawn > 0) stderr.write('\r\u001b[K');
      drawn = -Infinity;
    },
  };
}

/** What stands in the line: a bar where the whole is known, and else the amount. */
export function barText(ink: Ink, received: number, total: number | undefined): string {
  if (total === undefined || total === 0) return size(received);
  const part = Math.min(1, received / total);
  const full = Math.round(part * WIDTH);
  const bar = `${ink.cyan('█'.repeat(full)).shown}${ink.dim('░'.repeat(WIDTH - full)).shown}`;
  return `${bar} ${String(Math.floor(part * 100)).padStart(3)} %  ${size(received)} of ${size(total)}`;
}
