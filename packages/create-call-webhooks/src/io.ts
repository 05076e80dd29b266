import type { Readable, Writable } from 'node:stream';

/** An output that may be a terminal. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  hasColors?(count?: number, env?: object): boolean;
};

/** Everything outside the program that it uses. Tests pass their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which apps are created. */
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The exit codes. They are documented in the README: scripts rely on them. */
export const EXIT = { done: 0, failed: 1, badInput: 2, interrupted: 130 } as const;

/** An error that is shown to the user as it is: what is wrong, and how to fix it. */
export class CreateError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Whether there is somebody to ask. */
export const isInteractive = ({ stdin, stdout, env }: Io): boolean =>
  stdin.isTTY === true && stdout.isTTY === true && (env['CI'] ?? '') === '';
