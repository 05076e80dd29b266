import { Command } from 'commander';
import type { Io } from './io.ts';
import { inkOf, wantsColour } from './terminal/ink.ts';
import { Output, type OutputFlags } from './terminal/output.ts';

/** What all commands share: the world outside, and how they speak. */
export class App {
  readonly io: Io;
  /** Set by what an action returned. */
  exitCode = 0;
  #flags: () => OutputFlags = () => ({});
  #output: Output | undefined;

  constructor(io: Io) {
    this.io = io;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** Made when it is first needed, from the flags that were parsed by then. */
  get output(): Output {
    return (this.#output ??= new Output(this.io, this.#flags()));
  }

  /** Whether a question can be asked: somebody sits in front of it, and no script reads it. */
  get interactive(): boolean {
    const { stdin, stderr, env } = this.io;
    return stdin.isTTY === true && stderr.isTTY === true && !env['CI'] && !this.#flags().json;
  }

  /** Where the flags come from: the root command. */
  flagsFrom(flags: () => OutputFlags): void {
    this.#flags = flags;
  }

  /** A command whose help and errors go to our streams, and which never ends the process. */
  command(name: string, description: string): Command {
    const { stdout, stderr, env } = this.io;
    const coloured = () => wantsColour(this.#flags().color, env, stdout);
    return new Command(name)
      .description(description)
      .exitOverride()
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        // Told by `main`, as every error is.
        outputError: () => undefined,
        getOutHelpWidth: () => stdout.columns ?? 80,
        getErrHelpWidth: () => stderr.columns ?? 80,
        getOutHasColors: coloured,
        getErrHasColors: coloured,
      })
      .configureHelp({
        showGlobalOptions: true,
        styleTitle: (title) => inkOf(true).bold(title).shown,
      });
  }

  /** Runs a command's work; a number that it returns is the exit code. */
  run<Args extends unknown[]>(
    work: (...args: Args) => Promise<number | undefined>,
  ): (...args: Args) => Promise<void> {
    return async (...args) => {
      this.exitCode = (await work(...args)) ?? 0;
    };
  }
}

/** The examples under a command's help. */
export const examples = (...shown: readonly (readonly [command: string, what: string])[]): string =>
  `\nExamples:\n${shown.map(([command, what]) => `  # ${what}\n  $ call-webhooks ${command}`).join('\n')}`;
