import { EVENT_NAMES, OUTCOMES } from '@call-webhooks/core';
import { redactId, tenantKey } from '@call-webhooks/core/internal';
import type {
  ListedDeadLetter,
  OutcomeLog,
  OutcomeLogQuery,
  OutcomeRow,
} from '@call-webhooks/core/stores';
import { causeOf } from '@call-webhooks/recovery';
import { type MissReason, missReasonText } from '@call-webhooks/recovery/internal';
import type { WebhookEventSummary } from '@call-webhooks/simulator';
import type { OpenedStore } from '../store/engine.ts';
import { causesOf, type FilterOptions, lettersOf } from '../store/letters.ts';
import { plainText, type ToldStatus } from '../store/status.ts';

export const NO_LOG = 'This store keeps no outcome log, so it has no deliveries to show.';

/** Which rows of a log are wanted. Times are milliseconds since the epoch. */
export interface RowsQuery extends Pick<OutcomeLogQuery, 'since' | 'until' | 'only' | 'before'> {
  readonly limit: number;
}

/** The newest rows that are wanted. Reads at most 210 batches. */
export async function rowsOf(
  log: OutcomeLog,
  isWanted: (row: OutcomeRow) => boolean,
  { limit, before: from, ...query }: RowsQuery,
): Promise<{
  rows: OutcomeRow[];
  leftOut: number;
  before?: string | undefined;
  lookedBackTo?: Date | undefined;
}> {
  const MAX_PAGES = 20;
  const rows: OutcomeRow[] = [];
  let before = from;
  let oldest = Infinity;
  for (let read = 0; read < MAX_PAGES && rows.length < limit; read++) {
    const page = await log.read({ ...query, before, batches: read + 1 });
    for (const row of page.rows) {
      oldest = Math.min(oldest, row.at);
      if (isWanted(row)) rows.push(row);
    }
    before = page.before;
    if (before === undefined) break;
  }
  return {
    rows: rows.slice(0, limit),
    // A page ends with a batch, that is with a second of one process.
    leftOut: Math.max(0, rows.length - limit),
    before,
    ...(oldest !== Infinity && { lookedBackTo: new Date(oldest) }),
  };
}

export const rowView = ({ error, process: _process, ...row }: OutcomeRow) => ({
  ...masked(row),
  at: new Date(row.at),
  ...(error !== undefined && { untrusted: { error: causeOf({ ...row, error }) } }),
});

/** The causes of these letters; of one cause also its newest letters. */
export async function deadLettersView(
  { deadLetters, doubt }: OpenedStore,
  wanted: FilterOptions,
  limit: number,
): Promise<object> {
  const { causes, isWhole } = await causesOf(deadLetters, wanted);
  const letters: ListedDeadLetter[] = [];
  if (wanted.cause !== undefined)
    for await (const letter of lettersOf(deadLetters, wanted)) {
      letters.push(letter);
      if (letters.length > limit) letters.shift();
    }
  return {
    letters: causes.reduce((sum, { count }) => sum + count, 0),
    ...(!isWhole && { note: 'Only the first 10,000 dead letters are included.' }),
    ...(causes.length === 0 && { doubt: await doubt?.() }),
    causes: causes.slice(0, limit).map(({ text, example, eventNames, ...group }) => ({
      ...group,
      eventNames: eventNames.map(shownName),
      newest: shownId(example.id),
      untrusted: { error: text },
    })),
    ...(wanted.cause !== undefined && { newestFirst: letters.reverse().map(letterView) }),
  };
}

/**
 * A status. Its texts name events and tenants, and whoever sends events has chosen their names: names that
 * may be texts are masked there, too.
 */
export function statusView({ at, attention, events, notes, line, unknown }: ToldStatus) {
  const named: { eventName?: string | undefined; tenant?: string | undefined }[] = [
    ...attention,
    ...events,
    ...notes,
  ];
  const names = [
    ...named.flatMap(({ eventName }) => (eventName === undefined ? [] : [[eventName, shownName]])),
    ...named.flatMap(({ tenant }) => (tenant === undefined ? [] : [[tenant, shownId]])),
  ] as [string, (name: string) => string][];
  const told = (text: string) =>
    names.reduce((so, [name, shown]) => so.replaceAll(name, shown(name)), plainText(text));
  const masks = (one: { eventName?: string | undefined; tenant?: string | undefined }) => ({
    ...(one.eventName !== undefined && { eventName: shownName(one.eventName) }),
    ...(one.tenant !== undefined && { tenant: shownId(one.tenant) }),
  });
  return {
    at: new Date(at),
    summary: told(line),
    ...(unknown !== undefined && { unknown: told(unknown) }),
    attention: attention.map(({ since, text, fix, by, ...one }) => ({
      ...{ kind: one.kind, urgent: one.urgent, by, ...masks(one), count: one.count },
      ...{ since: new Date(since), text: told(text), fix: told(fix), docs: one.docs },
    })),
    events: events.map(({ state, why, arrivedAt, ...one }) => ({
      ...{ ...masks(one), state, why: why && told(why) },
      arrivedAt: arrivedAt === undefined ? undefined : new Date(arrivedAt),
    })),
    notes: notes.map((note) => ({ ...masks(note), text: told(note.text) })),
  };
}

/** Why events were missed. */
export const reasonView = (
  { kind, eventName, missed, ...reason }: MissReason,
  tenant: string | undefined,
) => {
  const name = eventName && shownName(eventName);
  const shown = { ...reason, kind, missed, ...(name !== undefined && { eventName: name }) };
  const at = (time: number) => new Date(time).toISOString();
  const of = tenant === undefined ? tenant : shownId(tenant);
  return {
    ...{ kind, missed, eventName: name },
    text: plainText(missReasonText(shown, { tenant: of, at })),
  };
};

/** The attempts before it was a dead letter are not kept. */
const firstFailureOf = ({ history: [first] }: ListedDeadLetter) =>
  first && (first.attempt === 1 ? { firstFailedAt: first.at } : { deadLetterSince: first.at });

/** What tells a letter apart. Of its error only the cause: it may quote what others wrote. */
export const letterView = (letter: ListedDeadLetter) => ({
  id: shownId(letter.id),
  eventName: letter.eventName && shownName(letter.eventName),
  reason: letter.reason,
  callId: letter.callId && shownId(letter.callId),
  tenant: letter.tenant && shownId(letter.tenant),
  attempts: letter.attempt,
  ...firstFailureOf(letter),
  lastFailedAt: letter.failedAt,
  beingRedrivenUntil: letter.claimedUntil,
  untrusted: { error: causeOf(letter) },
});

export const eventView = ({ _id, eventName, state, callId, attempts }: WebhookEventSummary) => ({
  id: shownId(_id),
  eventName: shownName(eventName),
  state,
  callId: shownId(callId),
  attempts: attempts.map(({ startedAt, response, outcome }) => ({
    at: new Date(startedAt),
    response: response?.kind === 'status' ? response.status : response?.kind,
    outcome: outcome !== undefined && Object.hasOwn(OUTCOMES, outcome) ? outcome : undefined,
  })),
});

/** The ids and names in a row, masked. */
function masked<Row extends Partial<Record<Identifier, string | undefined>>>(row: Row): Row {
  const copy: Partial<Record<Identifier, string | undefined>> = { ...row };
  for (const name of IDENTIFIERS) {
    const value = copy[name];
    if (value === undefined) continue;
    if (name === 'eventName') copy[name] = shownName(value);
    else copy[name] = name === 'key' ? shownKey(value, row.tenant) : shownId(value);
  }
  return copy as Row;
}

const IDENTIFIERS = ['eventName', 'callId', 'key', 'webhookId', 'tenant', 'secretId'] as const;
type Identifier = (typeof IDENTIFIERS)[number];

const MASK = '•••';
/** Words as prose has them. Random ids mix their letters with digits and with capitals. */
const WORDS = /[A-Z]?[a-z]{4,}|(?<![^_.:/-])[A-Z]{4,}(?![^_.:/-])/g;
const HEXADECIMAL = /^[a-f]+$/;
/** The names of the events of the service are parts of keys. */
const KNOWN = new RegExp(EVENT_NAMES.join('|'), 'g');

/**
 * An id or key, unless it may be a text: whoever sends events chooses their ids, and an assistant reads
 * them. What is shown has up to 100 letters, digits and signs of ids, and no more than two words.
 */
export function shownId(id: string): string {
  const words = (id.replace(KNOWN, '').match(WORDS) ?? []).filter((one) => !HEXADECIMAL.test(one));
  const isId = /^[\w.:/+=@-]{1,100}$/.test(id) && words.length <= 2 && redactId(id) === id;
  return isId ? id : MASK;
}

/** A key. Its tenant is judged by itself: the rest would have too few words left. */
function shownKey(key: string, tenant: string | undefined): string {
  const owner = tenantKey(tenant, '');
  return tenant !== undefined && key.startsWith(owner) && shownId(tenant) === tenant
    ? tenantKey(tenant, shownId(key.slice(owner.length)))
    : shownId(key);
}

/** The name of an event, unless it may be a text: as {@link shownId}, in small letters. */
export const shownName = (name: string): string =>
  (EVENT_NAMES as readonly string[]).includes(name) ||
  /^(?=.{3,40}$)[a-z]+[:.][a-z]+(?:-[a-z]+)?$/.test(name)
    ? name
    : MASK;
