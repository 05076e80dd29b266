/** The exit codes of the program. They are documented in the README: scripts rely on them. */
export const EXIT = {
  done: 0,
  /** The command did its work, and found something that needs attention. */
  attention: 1,
  badInput: 2,
  environment: 3,
  interrupted: 130,
} as const;

/** The reason of an abort by a signal. It carries the exit code to use after the cleanup. */
export class Stopped extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('stopped');
    this.exitCode = exitCode;
  }
}

/** An error that is shown to the user as it is: what is wrong, and how to fix it. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do about it. Every error has one. */
  readonly fix: string;

  constructor(exitCode: number, message: string, fix: string) {
    super(message);
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

/** Exit code 2: the command line is wrong. */
export const badInput = (message: string, fix: string) => new CliError(EXIT.badInput, message, fix);

/** Exit code 3: a file, a port or a server is not available. */
export const environmentError = (message: string, fix: string) =>
  new CliError(EXIT.environment, message, fix);
