import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type Sink = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything outside that the program touches: the process's own, or a test's. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Data, and nothing else. */
  readonly stdout: Sink;
  /** Talk: what is going on, errors, prompts, progress. */
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted with a `Stopped` when the program is to tidy up and end. */
  readonly signal: AbortSignal;
}
