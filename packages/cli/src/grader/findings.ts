import type { Answer } from './exchange.ts';

/** What a probe saw. */
export interface Finding {
  /** `note`: the interface does not bind the receiver here, so it costs nothing. */
  readonly result: 'pass' | 'fail' | 'note' | 'skipped';
  /** What the receiver did, or why that is not judged. Never a value of a body. */
  readonly saw: string;
}

const pass = (saw: string): Finding => ({ result: 'pass', saw });
const fail = (saw: string): Finding => ({ result: 'fail', saw });
const note = (saw: string): Finding => ({ result: 'note', saw });
const skipped = (saw: string): Finding => ({ result: 'skipped', saw });
export const found = { pass, fail, note, skipped };

/** A response in a few words. */
export function described({ status, failure, errorCode }: Answer): string {
  if (status !== undefined) return String(status);
  if (failure === 'timeout') return 'no response in time';
  return errorCode === undefined ? 'closed without a response' : errorCode;
}

/** Whether the service takes this for an acknowledgement. */
export const isAcknowledged = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

/** Passes if the delivery was acknowledged. */
export const accepted = (answer: Answer): Finding =>
  isAcknowledged(answer) ? pass(described(answer)) : fail(described(answer));

/** Passes if the receiver answered no 2xx and no 404, or closed the connection. Silence is no refusal. */
export const refused = (answer: Answer): Finding =>
  isAcknowledged(answer) || answer.status === 404 || !answer.connected || isSilent(answer)
    ? fail(described(answer))
    : pass(described(answer));

const isSilent = ({ status, failure }: Answer): boolean =>
  status === undefined && failure === 'timeout';

/** Passes if there is a response, and it doesn't pause the rule. */
export const answered = (answer: Answer): Finding =>
  answer.status === undefined || answer.status === 404
    ? fail(described(answer))
    : pass(described(answer));

/** A note about a response that is unusual, where the interface leaves the receiver free. */
export const notedUnless = (isUsual: (answer: Answer) => boolean, answer: Answer): Finding =>
  isUsual(answer) ? pass(described(answer)) : note(described(answer));

/** The first finding that is no pass, or the last one. */
export const worst = (...findings: readonly [Finding, ...Finding[]]): Finding =>
  findings.find(({ result }) => result === 'fail') ??
  findings.find(({ result }) => result === 'note') ??
  (findings.at(-1) as Finding);
