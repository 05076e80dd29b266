import type { App } from '../app.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { size } from './format.ts';
import type { Colors } from './text.ts';

// Prompts go to stderr, and only to people: callers check `app.interactive` first. The library is
// loaded when there is a question.
const clack = () => import('@clack/prompts');

const streams = ({ io: { stdin, stderr, signal } }: App) => ({
  input: stdin,
  output: stderr,
  signal,
});

/** Ctrl-C at a prompt ends the program, as it does elsewhere. */
async function orCancel<T>(answer: Promise<T>): Promise<Exclude<T, symbol>> {
  const given = await answer;
  if (typeof given === 'symbol')
    throw new CliError(
      EXIT.interrupted,
      'Cancelled.',
      'To run it without questions, pass what it asks for as flags.',
    );
  return given as Exclude<T, symbol>;
}

/** One entry of a selection. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

/** Asks for one of several choices. */
export async function askChoice(app: App, message: string, options: Choice[]): Promise<string> {
  const { select } = await clack();
  return orCancel(select<string>({ message, options, ...streams(app) }));
}

/** Asks a yes-or-no question; the default is no. */
export async function askYesNo(app: App, message: string): Promise<boolean> {
  const { confirm } = await clack();
  return orCancel(confirm({ message, initialValue: false, ...streams(app) }));
}

/** Asks for a secret. The input is not shown. */
export async function askSecret(app: App, message: string): Promise<string> {
  const { password } = await clack();
  return (await orCancel(password({ message, ...streams(app) }))).trim();
}

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
