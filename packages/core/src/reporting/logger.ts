/** Where the few log lines go: `console`, pino and the like. Lines are plain texts. */
export interface Logger {
  warn(line: string): unknown;
  error(line: string): unknown;
}
