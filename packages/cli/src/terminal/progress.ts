import type { Io } from '../io.ts';
import type { Colors } from './colors.ts';
import { size } from './format.ts';

/** A progress bar on stderr. */
export interface ProgressBar {
  update(received: number, total: number | undefined): void;
  /** Removes the bar. */
  clear(): void;
}

const WIDTH = 30;
const REDRAW_EVERY_MS = 80;

/**
 * Creates a progress bar. Without a terminal it draws nothing.
 * @param format of the two numbers; sizes in bytes by default
 */
export function progressBar({ stderr }: Io, colors: Colors, format = size): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => undefined, clear: () => undefined };
  let drawnAt = -Infinity;
  return {
    update(received, total) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_EVERY_MS && received !== total) return;
      drawnAt = now;
      stderr.write(`\r\u001b[K${barText(colors, received, total, format)}`);
    },
    clear() {
      if (drawnAt > 0) stderr.write('\r\u001b[K');
      drawnAt = -Infinity;
    },
  };
}

/** The text of the bar. Without a total it is the amount alone. */
export function barText(
  colors: Colors,
  received: number,
  total: number | undefined,
  format = size,
): string {
  if (total === undefined || total === 0) return format(received);
  const part = Math.min(1, received / total);
  const full = Math.round(part * WIDTH);
  const bar = `${colors.cyan('█'.repeat(full)).styled}${colors.dim('░'.repeat(WIDTH - full)).styled}`;
  return `${bar} ${String(Math.floor(part * 100)).padStart(3)} %  ${format(received)} of ${format(total)}`;
}
