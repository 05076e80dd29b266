import { Command } from 'commander';
import type { Io } from './io.ts';
import { Output, type OutputFlags } from './terminal/output.ts';
import { colorsFor, wantsColor } from './terminal/text.ts';

/** What all commands share: the streams, the output and the exit code. */
export class App {
  readonly io: Io;
  /** Set from the return value of the command's action. */
  exitCode = 0;
  #flags: () => OutputFlags = () => ({});
  #output: Output | undefined;

  constructor(io: Io) {
    this.io = io;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** Created on first use, when the flags have been parsed. */
  get output(): Output {
    return (this.#output ??= new Output(this.io, this.#flags()));
  }

  /** Whether the program may ask a question: a person is at the terminal, and no script reads. */
  get interactive(): boolean {
    const { stdin, stderr, env } = this.io;
    return stdin.isTTY === true && stderr.isTTY === true && !env['CI'] && !this.#flags().json;
  }

  /** Sets where the global flags come from: the root command. */
  flagsFrom(flags: () => OutputFlags): void {
    this.#flags = flags;
  }

  /** Creates a command that writes to our streams and never ends the process. */
  command(name: string, description: string): Command {
    const { stdout, stderr, env } = this.io;
    const hasColors = () => wantsColor(this.#flags().color, env, stdout);
    const command = new Command(name);
    return command
      .description(description)
      .exitOverride((error) => {
        const name = fullName(command);
        throw Object.assign(error, { command: name, usage: `${name} ${command.usage()}` });
      })
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        // `main` prints all errors.
        outputError: () => undefined,
        getOutHelpWidth: () => stdout.columns ?? 80,
        getErrHelpWidth: () => stderr.columns ?? 80,
        getOutHasColors: hasColors,
        getErrHasColors: hasColors,
      })
      .configureHelp({
        showGlobalOptions: true,
        styleTitle: (title) => colorsFor(true).bold(title).styled,
      });
  }

  /** Wraps an action. A number that it returns becomes the exit code. */
  action<Args extends unknown[]>(
    run: (...args: Args) => Promise<number | undefined>,
  ): (...args: Args) => Promise<void> {
    return async (...args) => {
      this.exitCode = (await run(...args)) ?? 0;
    };
  }
}

/** The name of a command with those of its parents, such as `call-webhooks rules list`. */
export const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

/** The examples under a command's help. */
export const examples = (...list: readonly (readonly [command: string, what: string])[]): string =>
  `\nExamples:\n${list.map(([command, what]) => `  # ${what}\n  $ npx call-webhooks ${command}`).join('\n')}`;
