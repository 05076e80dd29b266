/** A server with a mounted receiver, as an attacker sees it. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly secret: string;
  /** How long an answer may take; milliseconds. Longer than its `bodyTimeout`. */
  readonly patienceMs: number;
  /** The lines that the receiver logged since this was last asked; `undefined` where we can't read them. */
  takeLog(): readonly string[] | undefined;
  close(): Promise<void>;
}

export interface TargetOptions {
  /** Node's own limit for the headers of a request; 60 s by default. */
  readonly headersTimeoutMs?: number | undefined;
}

/** How to get a target: a new one for every row, or one for all. */
export interface TargetKind {
  readonly name: string;
  /** Whether one server serves all rows. */
  readonly shared?: true;
  start(options?: TargetOptions): Promise<Target>;
}
