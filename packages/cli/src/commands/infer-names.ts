import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';

/** One of the seven fields of a call that the spec describes without showing its name. */
export type CallField =
  'placedBy' | 'calledNumber' | 'calledEmail' | 'calledName' | 'createdAt' | 'dialedAt' | 'endedAt';

/** A field that fits a meaning, and why. No reason quotes a value: values may name people. */
export interface Candidate {
  /** The field's name as the service writes it. */
  readonly name: string;
  readonly reasons: readonly string[];
}

/** What the samples say about one of the seven fields. */
export interface Proposal {
  readonly setting: CallField;
  /**
   * - `found`: exactly one field fits. It is the only candidate.
   * - `not-sure`: several fields fit. Choose among the candidates.
   * - `not-seen`: no field fits. There are no candidates.
   */
  readonly status: 'found' | 'not-sure' | 'not-seen';
  readonly candidates: readonly Candidate[];
}

/** What captured bodies say about the names that the spec does not show. */
export interface InferredNames {
  /** One for each of the seven fields. Without a call event, they come from the call records. */
  readonly fieldNames: readonly Proposal[];
  /** The option `fieldNames` to paste, with reasons and doubts as comments. Empty if nothing fits. */
  readonly snippet: string;
  /** How many samples of each kind were read. */
  readonly read: {
    readonly callEvents: number;
    readonly recordingEvents: number;
    /** Records of `GET /v1/calls`, alone or in a page. */
    readonly callRecords: number;
    /** Samples that are none of these. */
    readonly ignored: number;
  };
}

/**
 * Learns the names of the seven fields from captured bodies: deliveries of call events, answers of
 * `GET /v1/calls`, and single call records. It looks at values, not at names. A few calls with their
 * `call:started`, `call:completed` and `call:recording-available` bodies say most. Never throws.
 *
 * @param samples parsed JSON bodies, in any order; what is none of the above is ignored
 */
export function inferNames(samples: Iterable<unknown>): InferredNames {
  const { calls, recordings, records, ignored } = sortSamples(samples);
  const columns = columnsOf(calls.length > 0 ? calls : records);
  const sawStarted = calls.some(({ completed }) => !completed);
  const fieldNames = settle({
    ...fitTexts(columns, recordings),
    ...fitTimes(columns, sawStarted),
  });
  return {
    fieldNames,
    snippet: writeSnippet(fieldNames),
    read: {
      callEvents: calls.length,
      recordingEvents: recordings.size,
      callRecords: records.length,
      ignored,
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** One body of `call:started` or `call:completed`; a call record counts as a completed call. */
interface CallBody {
  readonly completed: boolean;
  /** The call it belongs to; a number of our own where the body names none. */
  readonly call: string | number;
  readonly fields: Fields;
}

function sortSamples(samples: Iterable<unknown>) {
  const calls: CallBody[] = [];
  const recordings = new Map<string, Fields>();
  const records: CallBody[] = [];
  let ignored = 0;
  for (const sample of samples) {
    const { eventName, callId, ...fields } = isRecord(sample) ? sample : ({} as Fields);
    if (eventName === 'call:started' || eventName === 'call:completed') {
      const call = typeof callId === 'string' ? callId : calls.length;
      calls.push({ completed: eventName === 'call:completed', call, fields });
    } else if (eventName === 'call:recording-available' && typeof callId === 'string') {
      recordings.set(callId, fields);
    } else {
      const found = eventName === undefined ? recordsIn(sample) : [];
      for (const { _id, ...others } of found)
        records.push({ completed: true, call: String(_id), fields: others });
      if (found.length === 0) ignored++;
    }
  }
  return { calls, recordings, records, ignored };
}

/** The call record that a sample is, or those of a page. An activity event has an action. */
function recordsIn(sample: unknown): Fields[] {
  const isCall = (value: unknown): value is Fields =>
    isRecord(value) && typeof value['_id'] === 'string' && value['action'] === undefined;
  if (isCall(sample)) return [sample];
  return listsIn(sample).flatMap((list) => (list.every(isCall) ? list : []));
}

/** The outermost lists in the objects of a value, which are not searched for below four levels. */
function listsIn(value: unknown, level = 0): unknown[][] {
  if (Array.isArray(value)) return [value];
  if (!isRecord(value) || level === DEEPEST_LIST) return [];
  return Object.values(value).flatMap((inner) => listsIn(inner, level + 1));
}

const DEEPEST_LIST = 4;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One field over all bodies. Null and empty texts count as no value. */
interface Column {
  readonly name: string;
  readonly cells: readonly { readonly body: CallBody; readonly value: unknown }[];
  /** Whether every body has a value for it. */
  readonly always: boolean;
}

/** One column for each field whose name the spec does not show, and that does not differ in a call. */
function columnsOf(bodies: readonly CallBody[]): Column[] {
  const cells = new Map<string, Column['cells'][number][]>();
  for (const body of bodies)
    for (const [name, value] of Object.entries(body.fields)) {
      if (name === 'eventId' || name === 'fromPhoneNumber') continue;
      if (value === null || value === '' || value === undefined) continue;
      const list = cells.get(name) ?? [];
      list.push({ body, value });
      cells.set(name, list);
    }
  return [...cells]
    .map(([name, list]) => ({ name, cells: list, always: list.length === bodies.length }))
    .filter(isSteady);
}

function isSteady({ cells }: Column): boolean {
  const first = new Map<string | number, unknown>();
  return cells.every(({ body, value }) => {
    if (!first.has(body.call)) first.set(body.call, value);
    return first.get(body.call) === value;
  });
}

/** The fields that fit a meaning, and why. */
interface Fit {
  readonly columns: readonly Column[];
  readonly reason: string;
}

type Fits<Field extends CallField> = Readonly<Record<Field, Fit>>;

const all = ({ cells }: Column, test: (value: unknown) => boolean): boolean =>
  cells.every(({ value }) => test(value));

const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$/;
const DIGITS = /^\d+$/;
/** Words without digits: a person's name, but also a status such as `no answer`. */
const WORDS = /^\p{L}[\p{L}\p{M}\p{Zs}.,'’-]*$/u;
/** Two words or more, the first with a capital where its script has capitals. */
const FULL_NAME = /^\P{Ll}.*\p{Zs}+\p{L}/u;
/** Lower or upper case and no digits, such as `outbound`: more likely a status than a user's id. */
const STATUS = /^(?:\p{Ll}+|\p{Lu}+)(?:[ _-](?:\p{Ll}+|\p{Lu}+))*$/u;

const like = (column: Column, pattern: RegExp): boolean =>
  all(column, (value) => pattern.test(String(value)));

/** The texts of a call, by their formats; and its user, by the recording event of the same call. */
function fitTexts(
  columns: readonly Column[],
  recordings: ReadonlyMap<string, Fields>,
): Fits<'placedBy' | 'calledNumber' | 'calledEmail' | 'calledName'> {
  const texts = columns.filter((column) => all(column, (value) => typeof value === 'string'));
  const numbers = texts.filter((column) => all(column, isPhoneNumber));
  // Digits alone may as well be an id: they count only where nothing else does.
  const written = numbers.filter((column) => !like(column, DIGITS));
  const words = texts.filter((column) => like(column, WORDS) && !like(column, STATUS));
  const names = words.filter(({ cells }) =>
    cells.some(({ value }) => FULL_NAME.test(String(value))),
  );
  return {
    placedBy: fitUser(
      texts.filter(({ always }) => always),
      recordings,
    ),
    calledNumber: {
      columns: written.length > 0 ? written : numbers,
      reason: 'telephone numbers',
    },
    calledEmail: {
      columns: texts.filter((column) => like(column, EMAIL)),
      reason: 'email addresses',
    },
    calledName: { columns: names, reason: 'full names' },
  };
}

/** The user is in every body. The recording event names the same user, under a name that is known. */
function fitUser(always: readonly Column[], recordings: ReadonlyMap<string, Fields>): Fit {
  const equals = ({ cells }: Column, name: 'userId' | 'workspaceId'): boolean => {
    const seen = cells.flatMap(({ body, value }) => {
      const known = recordings.get(String(body.call))?.[name];
      return known === undefined ? [] : [known === value];
    });
    return seen.length > 0 && seen.every((same) => same);
  };
  const recorded = always.filter((column) => equals(column, 'userId'));
  if (recorded.length > 0)
    return { columns: recorded, reason: 'equals userId of the recording event of its call' };
  // Words such as "outbound" are in every body too.
  const others = always.filter(
    (column) => all(column, canNameUser) && !like(column, STATUS) && !equals(column, 'workspaceId'),
  );
  return { columns: others, reason: 'a string that could identify a user, in every event' };
}

/** The times of a call, by format, by order, and by their events: only `call:completed` has an end. */
function fitTimes(
  columns: readonly Column[],
  sawStarted: boolean,
): Fits<'createdAt' | 'dialedAt' | 'endedAt'> {
  const createdAt = {
    columns: columns.filter((column) => all(column, isEpochMs)),
    reason: 'epoch milliseconds, the same in every event of a call',
  };
  const dates = columns.filter((column) => all(column, isDateTime));
  const isAtStart = ({ cells }: Column): boolean => cells.some(({ body }) => !body.completed);
  const atStart = dates.filter(isAtStart);
  const atEnd = dates.filter((column) => !isAtStart(column));
  const ended = { columns: atEnd, reason: 'a date and time that only call:completed contains' };
  if (atStart.length > 0 || (sawStarted && atEnd.length === 1)) {
    const reason = 'a date and time that call:started already contains';
    return { createdAt, dialedAt: { columns: atStart, reason }, endedAt: ended };
  }
  const [one, other] = atEnd;
  if (atEnd.length === 2 && one !== undefined && other !== undefined)
    for (const [first, last] of [[one, other] as const, [other, one] as const])
      if (isBefore(first, last))
        return {
          createdAt,
          dialedAt: { columns: [first], reason: `a date and time, never after "${last.name}"` },
          endedAt: { columns: [last], reason: `a date and time, never before "${first.name}"` },
        };
  const either = { columns: atEnd, reason: 'a date and time in call:completed' };
  return { createdAt, dialedAt: either, endedAt: either };
}

/** Whether one time is never after the other, and before it at least once. */
function isBefore(first: Column, second: Column): boolean {
  const gaps = second.cells.flatMap(({ body, value }) => {
    const start = body.fields[first.name];
    return isDateTime(start) ? [Date.parse(value as string) - Date.parse(start)] : [];
  });
  return gaps.every((gap) => gap >= 0) && gaps.some((gap) => gap > 0);
}

/** Turns fits into proposals: a field that is the only one to fit a meaning has no other meaning. */
function settle(fits: Fits<CallField>): Proposal[] {
  const settings = Object.keys(fits) as CallField[];
  const names = new Map(
    settings.map((setting) => [setting, fits[setting].columns.map(({ name }) => name)]),
  );
  const namesOf = (setting: CallField): string[] => names.get(setting) ?? [];
  const isTaken = (name: string, by: CallField): boolean =>
    settings.some(
      (other) => other !== by && namesOf(other).length === 1 && namesOf(other)[0] === name,
    );
  // Each pass settles at least one more meaning, if any.
  for (let pass = 0; pass < settings.length; pass++)
    for (const setting of settings) {
      const left = namesOf(setting).filter((name) => !isTaken(name, setting));
      if (left.length > 0) names.set(setting, left);
    }
  return settings.map((setting) => {
    const found = namesOf(setting);
    const sure = found.length === 1 && !found.some((name) => isTaken(name, setting));
    return {
      setting,
      status: sure ? 'found' : found.length === 0 ? 'not-seen' : 'not-sure',
      candidates: found.map((name) => ({ name, reasons: [fits[setting].reason] })),
    };
  });
}

function writeSnippet(proposals: readonly Proposal[]): string {
  const owners = new Map(
    proposals.flatMap(({ setting, status, candidates: [first] }) =>
      status === 'found' && first !== undefined ? [[first.name, setting] as const] : [],
    ),
  );
  const lines = proposals.flatMap(({ setting, status, candidates }) => {
    const [first] = candidates;
    // A receiver refuses a name that is also the default one of a property that is not set.
    const byDefault = DEFAULT_FIELD_NAMES[setting];
    const owner = status === 'found' ? undefined : owners.get(byDefault);
    const unset =
      owner === undefined
        ? []
        : [
            `  ${setting}: undefined, // its default name, ${quoted(byDefault)}, is that of ${owner}`,
          ];
    if (first === undefined) return unset;
    const reasoned = candidates.map(
      ({ name, reasons }) => `${quoted(name)} (${inComment(reasons.join('; '))})`,
    );
    return status === 'found'
      ? [`  ${setting}: ${quoted(first.name)}, // ${inComment(first.reasons.join('; '))}`]
      : [...unset, `  // ${setting}, not sure: ${reasoned.join(' or ')}`];
  });
  return lines.length === 0 ? '' : ['fieldNames: {', ...lines, '},'].join('\n');
}

// Names come from captured bodies: they must not end the text or the comment.
function quoted(name: string): string {
  const inner = JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"');
  return `'${inComment(inner).replaceAll("'", "\\'")}'`;
}

function inComment(text: string): string {
  return text.replace(/[\u2028\u2029]|[^\P{Cc}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** An ISO 8601 date and time, such as `2026-01-31T09:30:00.000Z`. */
function isDateTime(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

/** Epoch milliseconds of the years 2001 to 2103. */
function isEpochMs(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1e12 && Number(value) < 4.2e12;
}

/** A telephone number of 7 to 15 digits. */
function isPhoneNumber(value: unknown): boolean {
  const text = String(value);
  const digits = text.replace(/\D/g, '').length;
  if (!/^\+?[\d\s().\-/]+$/.test(text) || /^\d{4}-\d\d-\d\d/.test(text)) return false;
  return digits >= 7 && digits <= 15;
}

/** A text that can name a user: not a date, a telephone number with a plus sign, or a URL. */
function canNameUser(value: unknown): boolean {
  const text = String(value);
  if (text.length > 200 || isDateTime(text)) return false;
  if (isPhoneNumber(text) && !DIGITS.test(text)) return false;
  return !/^[a-z][a-z\d+.-]*:\/\//i.test(text);
}
