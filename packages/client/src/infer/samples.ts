import { isRecord } from '../json-path.ts';

/** The bodies that were captured, sorted by what they are. */
export interface Samples {
  /** Bodies of `call:started` and `call:completed`. */
  readonly calls: readonly CallBody[];
  /** Bodies of `call:recording-available`, by `callId`. */
  readonly recordings: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Records of `GET /v1/calls` without their page, as if each were the body of a completed call. */
  readonly records: readonly CallBody[];
  /** Answers of the list endpoints, one for each page. */
  readonly pages: readonly ListPage[];
  /** How many samples were none of these. */
  readonly ignored: number;
}

/** One body of `call:started` or `call:completed`. */
export interface CallBody {
  readonly completed: boolean;
  /** The call it belongs to; a number of our own where the body names none. */
  readonly call: string | number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One answer of a list endpoint. */
export interface ListPage {
  /** Arrays of records in the answer, by their path; `''` is the answer itself. */
  readonly lists: ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;
  /** Texts, numbers, booleans and nulls outside of these arrays, by their path. */
  readonly values: ReadonlyMap<string, string | number | boolean | null>;
}

const deepest = 4;

/** Sorts parsed JSON bodies. Never throws. */
export function sortSamples(samples: Iterable<unknown>): Samples {
  const calls: CallBody[] = [];
  const recordings = new Map<string, Readonly<Record<string, unknown>>>();
  const records: CallBody[] = [];
  const pages: ListPage[] = [];
  let ignored = 0;
  for (const sample of samples) {
    const fields = isRecord(sample) ? sample : {};
    const { eventName, callId, _id, action, ...others } = fields;
    if (eventName === 'call:started' || eventName === 'call:completed') {
      const call = typeof callId === 'string' ? callId : calls.length;
      calls.push({ completed: eventName === 'call:completed', call, fields });
    } else if (eventName === 'call:recording-available' && typeof callId === 'string') {
      recordings.set(callId, fields);
    } else if (eventName === undefined && typeof _id === 'string' && action === undefined) {
      // An activity event has an action, a call record may have anything beside its _id.
      records.push({ completed: true, call: _id, fields: others });
    } else {
      const page = eventName === undefined ? readListPage(sample) : undefined;
      if (page === undefined) ignored++;
      else pages.push(page);
    }
  }
  return { calls, recordings, records, pages, ignored };
}

function readListPage(sample: unknown): ListPage | undefined {
  const lists = new Map<string, Readonly<Record<string, unknown>>[]>();
  const values = new Map<string, string | number | boolean | null>();
  const visit = (value: unknown, path: readonly string[]): void => {
    const name = path.join('.');
    if (Array.isArray(value)) {
      if (value.every(isRecord)) lists.set(name, value);
    } else if (isRecord(value) && path.length < deepest) {
      // A dot in a name cannot be told from a path, so such a field cannot be configured.
      for (const [key, inner] of Object.entries(value))
        if (!key.includes('.')) visit(inner, [...path, key]);
    } else if (isScalar(value)) {
      values.set(name, value);
    }
  };
  visit(sample, []);
  return lists.size === 0 ? undefined : { lists, values };
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
