import type { App } from '../app.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';

// Prompts go to stderr, and only to people: callers check `app.interactive` first. The library is
// loaded when there is a question.
const clack = () => import('@clack/prompts');

const streams = ({ io: { stdin: input, stderr: output, signal } }: App) => ({
  input,
  output,
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

/** How far something is, as a line on stderr that is replaced. */
interface Progress {
  /** @param total absent if it is not known */
  update(done: number, total?: number): void;
  /** Removes the line. */
  clear(): void;
}

/**
 * Shows progress, such as `12 of 120`. Without a terminal it shows nothing.
 * @param format of the two numbers
 */
export function showProgress({ stderr }: Io, format: (value: number) => string = String): Progress {
  const REDRAW_EVERY_MS = 80;
  let drawnAt = -Infinity;
  return {
    update(done, total) {
      const now = performance.now();
      if (stderr.isTTY !== true || now - drawnAt < REDRAW_EVERY_MS) return;
      drawnAt = now;
      const of = total === undefined ? '' : ` of ${format(total)}`;
      stderr.write(`\r\u001b[K${format(done)}${of}`);
    },
    clear() {
      if (drawnAt > 0) stderr.write('\r\u001b[K');
      drawnAt = -Infinity;
    },
  };
}
