import { SimulatorError } from '../simulator-error.ts';
import { NO_RECORDS, type Heading, type State } from './state.ts';

/** A state, and when it was taken. */
export interface Snapshot extends State {
  /** Wall time, in milliseconds since the epoch. */
  readonly takenAt: number;
}

const FORMAT = 'call-webhooks-simulator';
const VERSION = 1;

/**
 * Formats a snapshot as lines of JSON: a heading, one line per record, and a last line with the
 * number of records, which reveals a truncated file. Lines, because a state may be longer than the
 * longest string.
 */
export function* formatLines({ heading, records, takenAt }: Snapshot): Generator<string, void> {
  yield JSON.stringify({ format: FORMAT, version: VERSION, takenAt, ...heading });
  let count = 0;
  for (const [kind, list] of Object.entries(records) as [string, readonly unknown[]][])
    for (const record of list) {
      count++;
      yield JSON.stringify([kind, record]);
    }
  yield JSON.stringify(['end', count]);
}

/**
 * Parses what `formatLines` produced.
 * @throws SimulatorError `bad-snapshot`
 */
export async function parseLines(lines: AsyncIterable<string>): Promise<Snapshot> {
  const records: Record<string, unknown[]> = structuredClone(NO_RECORDS) as never;
  let heading: (Heading & { takenAt: number }) | undefined;
  let count = 0;
  let ended = false;
  for await (const line of lines) {
    if (ended) throw bad('continues after its last line');
    if (!heading) {
      heading = parseHeading(parseJson(line));
      continue;
    }
    const [kind, record] = parseEntry(parseJson(line));
    if (kind === 'end') {
      if (record !== count) throw bad('is incomplete');
      ended = true;
    } else {
      if (!Object.hasOwn(records, kind) || typeof record !== 'object' || record === null)
        throw bad('has an invalid line');
      records[kind]?.push(record);
      count++;
    }
  }
  if (!heading || !ended) throw bad('is truncated');
  return { heading, takenAt: heading.takenAt, records: records as never };
}

function parseHeading(value: unknown): Heading & { takenAt: number } {
  const heading = (value ?? {}) as Partial<Heading> & Record<string, unknown>;
  if (heading['format'] !== FORMAT) throw bad('was not written by a simulator');
  if (heading['version'] !== VERSION)
    throw bad(
      `has version ${String(heading['version'])}, but this simulator reads version ${String(VERSION)}: update @call-webhooks/simulator`,
    );
  const numbers = [heading.run, heading.time, heading['takenAt'], heading.made?.deliveries];
  if (typeof heading.seed !== 'string' || !heading.chaos || !numbers.every(Number.isFinite))
    throw bad('has an invalid first line');
  return heading as never;
}

function parseEntry(value: unknown): [kind: string, record: unknown] {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string')
    return [value[0], value[1]];
  throw bad('has an invalid line');
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw bad('has a line that is not JSON', cause);
  }
}

/** The message never quotes the file, which holds secrets. */
function bad(what: string, cause?: unknown): SimulatorError {
  const syntax = cause === undefined ? undefined : { cause: (cause as Error).name };
  return new SimulatorError('bad-snapshot', `The snapshot ${what}.`, syntax);
}
