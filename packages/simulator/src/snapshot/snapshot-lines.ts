import { SimulatorError } from '../simulator-error.ts';
import { NO_RECORDS, type Heading, type State } from './state.ts';

/** A state with the wall time at which it was taken; milliseconds since the epoch. */
export interface Snapshot extends State {
  readonly takenAt: number;
}

const FORMAT = 'call-webhooks-simulator';
const VERSION = 1;

/**
 * A snapshot as lines of JSON: a heading, a line for each record, and a last one with their number,
 * so that a file that was cut off is known as one. Lines, since a state may be larger than the
 * largest string.
 */
export function* linesOf({ heading, records, takenAt }: Snapshot): Generator<string, void> {
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
 * Reads what `linesOf` wrote.
 * @throws SimulatorError `bad-snapshot`
 */
export async function snapshotOf(lines: AsyncIterable<string>): Promise<Snapshot> {
  const records: Record<string, unknown[]> = structuredClone(NO_RECORDS) as never;
  let heading: (Heading & { takenAt: number }) | undefined;
  let count = 0;
  let ended = false;
  for await (const line of lines) {
    if (ended) throw bad('goes on after its end');
    if (!heading) {
      heading = headingOf(parsed(line));
      continue;
    }
    const [kind, record] = entryOf(parsed(line));
    if (kind === 'end') {
      if (record !== count) throw bad('lacks some of its lines');
      ended = true;
    } else {
      if (!Object.hasOwn(records, kind) || typeof record !== 'object' || record === null)
        throw bad('has a line that is no record');
      records[kind]?.push(record);
      count++;
    }
  }
  if (!heading || !ended) throw bad('is cut off');
  return { heading, takenAt: heading.takenAt, records: records as never };
}

function headingOf(value: unknown): Heading & { takenAt: number } {
  const heading = (value ?? {}) as Partial<Heading> & Record<string, unknown>;
  if (heading['format'] !== FORMAT) throw bad('was not written by this simulator');
  if (heading['version'] !== VERSION)
    throw bad(
      `is of version ${String(heading['version'])}, and this simulator reads version ${String(VERSION)}: update @call-webhooks/simulator`,
    );
  const numbers = [heading.run, heading.time, heading['takenAt'], heading.made?.deliveries];
  if (typeof heading.seed !== 'string' || !heading.chaos || !numbers.every(Number.isFinite))
    throw bad('has no proper heading');
  return heading as never;
}

function entryOf(value: unknown): [kind: string, record: unknown] {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string')
    return [value[0], value[1]];
  throw bad('has a line that is no record');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw bad('has a line that is not JSON', cause);
  }
}

/** The message tells what is wrong, never what the file holds: there are secrets in it. */
function bad(what: string, cause?: unknown): SimulatorError {
  const syntax = cause === undefined ? undefined : { cause: (cause as Error).name };
  return new SimulatorError('bad-snapshot', `The snapshot ${what}.`, syntax);
}
