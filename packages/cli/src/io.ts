import type { Readable, Writable } from 'node:stream';

/** An output stream that may be a terminal. */
export type Sink = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything outside the program that it uses. Tests pass their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Data only. */
  readonly stdout: Sink;
  /** Messages: progress, errors, prompts. */
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C and its like; the reason is a {@link Stopped}. */
  readonly signal: AbortSignal;
  /** Aborted by a second one: the program ends as soon as the listeners have returned. */
  readonly killed: AbortSignal;
}
