/** A server with a mounted receiver, as an attacker sees it. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly secret: string;
  /** How long a response may take, longer than `bodyTimeout`; milliseconds. */
  readonly timeoutMs: number;
  /** The receiver's log lines since the last call; `undefined` where they cannot be read. */
  takeLog(): readonly string[] | undefined;
  close(): Promise<void>;
}

export interface TargetOptions {
  /** Node's own time limit for request headers; 60 s by default. */
  readonly headersTimeoutMs?: number | undefined;
}

/** Starts targets: one for each row, or a shared one. */
export interface TargetFactory {
  readonly name: string;
  /** Whether one server serves all rows. */
  readonly shared?: true;
  start(options?: TargetOptions): Promise<Target>;
}
