import { validateHeaderName, validateHeaderValue } from 'node:http';
import { generateSecret, sign } from '@call-webhooks/core';
import type { Settings } from './settings.ts';
import { SimulatorError } from './simulator-error.ts';

/**
 * Checks the headers at the start rather than with the first delivery.
 * @throws SimulatorError `invalid-input` when `headerPrefix` or `extraHeaders` is invalid
 */
export async function checkHeaders({ headerPrefix, extraHeaders }: Settings): Promise<void> {
  try {
    await sign({ secret: generateSecret(), body: '', headerPrefix });
    for (const [name, value] of Object.entries(extraHeaders)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch (cause) {
    const { message } = cause as Error;
    throw new SimulatorError('invalid-input', `Invalid headerPrefix or extraHeaders: ${message}`, {
      cause,
    });
  }
}
