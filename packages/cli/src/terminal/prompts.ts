import type { App } from '../app.ts';
import { CliError, EXIT } from '../errors.ts';

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
