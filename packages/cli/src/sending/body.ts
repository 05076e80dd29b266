import { badInput } from '../cli-error.ts';
import { assign } from '../input/assignments.ts';
import { dataBytes } from '../input/read.ts';
import type { Io } from '../io.ts';
import { sampleOf } from './sample.ts';

/** What is said about a body on the command line. */
export interface BodyOptions {
  readonly data?: string | undefined;
  readonly set?: readonly string[] | undefined;
}

/**
 * The bytes of a delivery: those that were given, as they are, or a sample of the event. With
 * `--set` they are parsed and written anew.
 * @throws CliError
 */
export async function bodyOf(
  io: Io,
  eventName: string,
  { data, set = [] }: BodyOptions,
): Promise<Uint8Array> {
  if (data !== undefined && set.length === 0) return dataBytes(io, data);
  const base = data === undefined ? sampleOf(eventName) : parsed(await dataBytes(io, data));
  return Buffer.from(JSON.stringify(assign(base, set)));
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw badInput('--set works on JSON objects, and the data is none.');
}
