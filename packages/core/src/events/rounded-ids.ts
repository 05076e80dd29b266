import { docsUrl } from '../errors.ts';
import { safeLogger, type Logger } from '../report/logger.ts';

/** 2^53 has 16 digits. From 10^21 on, a number is written as `1e+21`. */
const LARGE_NUMBER = /\d{16}|e\+\d/;

/** Warns, once, of a key with a number that `JSON.parse` has rounded: another event may have the same. */
export class RoundedIds {
  readonly #logger: Logger;
  #hasWarned = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param body the parsed body that the key was made of */
  check(key: string, body: unknown): void {
    if (this.#hasWarned || !LARGE_NUMBER.test(key) || !hasRounded(body, key)) return;
    this.#hasWarned = true;
    safeLogger(this.#logger).warn(
      { docs: docsUrl('wire-contract.md#event-keys') },
      'call-webhooks: custom.key returned a number above 2^53. JavaScript rounds such numbers, so two events may have one key, and the second would count as a duplicate. Put the id in quotes in the custom payload.',
    );
  }
}

/** Whether a rounded number is part of the key. A parsed body is at most 64 levels deep. */
function hasRounded(value: unknown, key: string): boolean {
  if (typeof value === 'number')
    return Math.abs(value) > Number.MAX_SAFE_INTEGER && key.includes(String(value));
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((inner) => hasRounded(inner, key));
}
