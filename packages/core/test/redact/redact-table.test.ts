import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../src/report/redact.ts';
import { ERROR_TEXTS, EVENT } from './error-texts.ts';

describe('texts of real errors', () => {
  const redact = createRedactor('standard', { body: EVENT });

  it.each(ERROR_TEXTS)('%s: %s', (_from, text, logged) => {
    expect(redact(text)).toBe(logged);
  });

  it('has at least 40 of them, and in half of them nothing is personal', () => {
    expect(ERROR_TEXTS.length).toBeGreaterThanOrEqual(40);
    const same = ERROR_TEXTS.filter(([, text, logged]) => text === logged);
    expect(same.length).toBeGreaterThanOrEqual(ERROR_TEXTS.length / 2);
  });
});
