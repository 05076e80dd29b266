import { EXIT } from './exit.ts';

/** An error that is told to the user as it is: what is wrong, and what to do about it. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do. */
  readonly fix: string | undefined;

  constructor(exitCode: number, message: string, fix?: string) {
    super(message);
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

/** Something on the command line can't be. */
export const badInput = (message: string, fix?: string) =>
  new CliError(EXIT.badInput, message, fix);

/** A file, a port or a server is not as it would have to be. */
export const environment = (message: string, fix?: string) =>
  new CliError(EXIT.environment, message, fix);
