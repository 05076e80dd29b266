/** What the process ends with. Documented in the README: scripts rely on it. */
export const EXIT = {
  done: 0,
  receiverFailed: 1,
  badInput: 2,
  environment: 3,
  interrupted: 130,
} as const;

/** What a signal's abort carries: how the process is to end once everything is tidied up. */
export class Stopped extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('stopped');
    this.exitCode = exitCode;
  }
}
