import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { WebhookError } from '@call-webhooks/core';

const VERSION = 1;

/** Recorded bodies, in the order in which they were recorded. */
export type FixtureBodies = readonly unknown[];

/**
 * Reads the bodies of a file of fixtures.
 * @throws WebhookError `invalid-options` if there is no such file, or it is none of fixtures
 */
export function readFixtures(file: string): FixtureBodies {
  const wrong = (what: string) =>
    new WebhookError('invalid-options', `The file of fixtures ${file} ${what}.`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    throw wrong('does not exist. Record deliveries with record({ file })');
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw wrong('is not JSON');
  }
  const { version, bodies } = (content ?? {}) as { version?: unknown; bodies?: unknown };
  if (version !== VERSION || !Array.isArray(bodies)) throw wrong('was not written by record()');
  return bodies;
}

/** Like `readFixtures`, for a file that is still to be written. */
export const readFixturesIfAny = (file: string): FixtureBodies =>
  existsSync(file) ? readFixtures(file) : [];

/** Replaces the file at once, so that it is never read half written. */
export function writeFixtures(file: string, bodies: FixtureBodies): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${String(process.pid)}.tmp`;
  writeFileSync(temporary, `${JSON.stringify({ version: VERSION, bodies }, null, 2)}\n`);
  renameSync(temporary, file);
}
