import type { App } from '../app.ts';
import { EXIT } from '../exit.ts';
import { CliError } from '../cli-error.ts';

// Questions are asked on stderr, of people only: callers look at `app.interactive` first. The
// library is loaded when there is a question.
const prompts = () => import('@clack/prompts');

const streams = ({ io: { stdin, stderr, signal } }: App) => ({
  input: stdin,
  output: stderr,
  signal,
});

/** Ctrl-C in a question ends the program as it does elsewhere. */
async function answered<T>(answer: Promise<T>): Promise<Exclude<T, symbol>> {
  const given = await answer;
  if (typeof given === 'symbol') throw new CliError(EXIT.interrupted, 'Cancelled.');
  return given as Exclude<T, symbol>;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

export async function select(app: App, message: string, choices: Choice[]): Promise<string> {
  const { select: ask } = await prompts();
  return answered(ask<string>({ message, options: choices, ...streams(app) }));
}

export async function confirm(app: App, message: string): Promise<boolean> {
  const { confirm: ask } = await prompts();
  return answered(ask({ message, initialValue: false, ...streams(app) }));
}

/** A secret; what is typed is not shown. */
export async function secret(app: App, message: string): Promise<string> {
  const { password: ask } = await prompts();
  return (await answered(ask({ message, ...streams(app) }))).trim();
}
