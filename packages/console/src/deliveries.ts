import { EVENT_NAMES, eventKey } from '@call-webhooks/core';
import { redactId, tenantKey } from '@call-webhooks/core/internal';
import {
  deadLetterId,
  type EventState,
  type OutcomeLog,
  type OutcomeLogQuery,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { causeOfRow } from '@call-webhooks/recovery/internal';
import type {
  CallEvent,
  CallTimeline,
  DeadLetterDetail,
  DeadLetterRow,
  DeliveriesPage,
  DeliveryDetail,
  DeliveryRow,
  FailureCauses,
} from './api-types.ts';
import type { DeadLetterDesk } from './dead-letters.ts';
import { failureCauses } from './failures.ts';
import { RequestError } from './http/answer.ts';
import { earlier, type KnownOfLog, readKnown } from './known-of-log.ts';
import type { ConsoleSettings } from './options.ts';
import type { DeliveriesQuery, FailuresQuery } from './requests.ts';
import { resultOf } from './results.ts';
import { askStore } from './store-calls.ts';

/** A page ends with the first batch after so many rows. */
const PAGE = 50;
const MOST_BATCHES_AT_ONCE = 64;
/** A search gives up for this page after so long; the next one goes on. Milliseconds. */
const SEARCH_MS = 2_000;
const MAX_NAMES = 50;
const KNOWN_MS = 60_000;
/** Failures are grouped for so long, if nobody says since when; milliseconds. */
const FAILURES_MS = 26 * 3_600_000;
const MAX_EVENTS = 20;

/** What the id of a dead letter is made of. */
interface LetterKey {
  key?: string | undefined;
  webhookId?: string | undefined;
  tenant?: string | undefined;
}

/** Reads deliveries of all processes from the log, and the states of events from the store. */
export class DeliveryReader {
  readonly #settings: ConsoleSettings;
  readonly #letters: DeadLetterDesk | undefined;
  #last: { at: number; known: Promise<KnownOfLog> } | undefined;

  constructor(settings: ConsoleSettings, letters: DeadLetterDesk | undefined) {
    this.#settings = settings;
    this.#letters = letters;
  }

  /** @throws RequestError `not-configured`, `store-unavailable` */
  async page({ before, ...filter }: DeliveriesQuery): Promise<DeliveriesPage> {
    const deliveries: DeliveryRow[] = [];
    let searched = 0;
    let searchedTo: number | null = null;
    const known = await this.#known();
    const { cause, version, since, until, ...rest } = filter;
    const hasText = matcher(rest);
    const isOfCause = cause === undefined ? undefined : await this.#rowsOf(cause);
    const isMatching = (row: DeliveryRow) =>
      hasText(row) &&
      (version === undefined || known.processes.get(row.process) === version) &&
      (isOfCause?.(row) ?? true);
    const only =
      rest.result === 'failed' || cause !== undefined ? ('failures' as const) : undefined;
    // Bars of a chart do not overlap.
    const within = { only, since, until: until === undefined ? undefined : until - 1 };
    const seen = { eventNames: new Set(known.eventNames), tenants: new Set(known.tenants) };
    const isEnough = (row: DeliveryRow) => {
      searched += 1;
      searchedTo = Math.min(searchedTo ?? row.at, row.at);
      if (row.eventName !== undefined) seen.eventNames.add(row.eventName);
      if (row.tenant !== undefined) seen.tenants.add(row.tenant);
      if (isMatching(row)) deliveries.push(row);
      return deliveries.length >= PAGE;
    };
    const next = await this.#search(before, isEnough, within);
    return {
      deliveries,
      ...(next !== undefined && { before: next }),
      searched,
      searchedTo,
      // A row that was written late may be older.
      keptSince: earlier(known.keptSince, searchedTo),
      eventNames: [...seen.eventNames].sort().slice(0, MAX_NAMES),
      tenants: [...seen.tenants].sort().slice(0, MAX_NAMES),
      versions: [...new Set(known.processes.values())].sort().slice(0, MAX_NAMES),
    };
  }

  /** Why deliveries failed. @throws RequestError `not-configured`, `store-unavailable` */
  async failureCauses({ since, until, ...filter }: FailuresQuery): Promise<FailureCauses> {
    const log = this.#log();
    const { receiver, logger, clock } = this.#settings;
    const { store } = receiver;
    const within = {
      ...{ ...filter, since: since ?? clock.now() - FAILURES_MS },
      ...(until !== undefined && { until: until - 1 }),
    };
    const peek = store.peek && ((keys: readonly string[]) => store.peek?.(keys) ?? []);
    return askStore(logger, 'log of outcomes', () =>
      failureCauses(log, within, peek && (async (keys) => peek(keys))),
    );
  }

  /** @returns whether a row failed for a cause; the texts of causes are short, their ids are hashes */
  async #rowsOf(cause: string): Promise<(row: DeliveryRow) => boolean> {
    const known = new Map<string, boolean>();
    const { causes } = await this.failureCauses({ since: 0 });
    for (const { id, text } of causes) known.set(text, id === cause);
    return (row) => row.result === 'failed' && known.get(causeOfRow(row)) === true;
  }

  /** What filters offer, and how far back the log goes: read once a minute. */
  #known(): Promise<KnownOfLog> {
    const { clock } = this.#settings;
    const log = this.#log();
    const age = this.#last ? clock.now() - this.#last.at : Infinity;
    if (this.#last && age >= 0 && age < KNOWN_MS) return this.#last.known;
    const known = askStore(this.#settings.logger, 'log of outcomes', () =>
      readKnown(log, clock.now()),
    );
    this.#last = { at: clock.now(), known };
    known.catch(() => (this.#last = undefined));
    return known;
  }

  /** @throws RequestError `not-configured`, `store-unavailable` */
  async detail(id: string): Promise<DeliveryDetail> {
    const deliveries: DeliveryRow[] = [];
    await this.#search(undefined, (row) => {
      if (row.id === id) deliveries.push(row);
      return false;
    });
    const key = deliveries.find((row) => row.key !== undefined)?.key;
    const state = key === undefined ? undefined : (await this.#states([key]))[0];
    const letter = await this.#letterOf({ key, webhookId: id, tenant: deliveries[0]?.tenant });
    const isDead = state === 'dead-lettered';
    return {
      deliveries,
      state: state === 'unknown' ? null : (state ?? null),
      deadLetterId: letter?.id ?? null,
      isLetterGone: isDead && letter === null,
    };
  }

  /** The attempts of an event that failed, oldest first, as far as the log has them. */
  async failures(letter: DeadLetterDetail): Promise<DeliveryRow[]> {
    const { key, webhookId } = letter;
    const rows: DeliveryRow[] = [];
    if (this.#settings.receiver.store.log)
      await this.#search(undefined, (row) => {
        const isOwn = key === undefined ? row.webhookId === webhookId : row.key === key;
        if (isOwn && row.result === 'failed') rows.unshift(row);
        return isOwn && row.attempt === 1;
      });
    return rows;
  }

  /**
   * A call over its events: from the store, also if the log has nothing of it.
   * @throws RequestError `store-unavailable`
   */
  async call(callId: string, askedTenant: string | undefined): Promise<CallTimeline> {
    const rows: DeliveryRow[] = [];
    const shownId = redactId(callId);
    if (this.#settings.receiver.store.log)
      await this.#search(undefined, (row) => {
        if (row.callId === shownId && (askedTenant === undefined || row.tenant === askedTenant))
          rows.unshift(row);
        return false;
      });
    const { hasTenants } = this.#settings.receiver;
    const [known, another] = new Set(rows.map((row) => row.tenant));
    // Two tenants may have calls with the same id.
    const tenant = askedTenant ?? (another === undefined ? known : undefined);
    const names = new Set<string>(EVENT_NAMES);
    for (const { eventName } of rows) if (eventName !== undefined) names.add(eventName);
    const shown = [...names].slice(0, MAX_EVENTS);
    const keys = shown.map((eventName) =>
      // Of no tenant, the store would know nothing.
      hasTenants && tenant === undefined ? undefined : keyOf(eventName, callId, tenant, rows),
    );
    const states = await this.#states(keys);
    const events = shown.map(async (eventName, index): Promise<CallEvent> => {
      const key = keys[index];
      const letter = key === undefined ? undefined : await this.#letterOf({ key });
      return {
        eventName,
        state: states[index] ?? null,
        deliveries: rows.filter((row) => row.eventName === eventName),
        ...(letter && { deadLetter: letter }),
        isLetterGone: states[index] === 'dead-lettered' && letter === null,
      };
    });
    return { callId: shownId, tenant: tenant ?? null, events: await Promise.all(events) };
  }

  /**
   * Its id follows from the event. While its store does not respond, the rest is shown without it.
   * @returns `null` if there is none, and `undefined` if that is not known
   */
  async #letterOf(of: LetterKey): Promise<DeadLetterRow | null | undefined> {
    const letters = this.#letters;
    if (!letters) return undefined;
    const { key, webhookId = '', tenant } = of;
    const id = await deadLetterId({
      ...{ ...(key !== undefined && { key }), ...(tenant !== undefined && { tenant }) },
      webhookId,
    });
    return letters.row(id).then(
      (row) => row ?? null,
      () => undefined,
    );
  }

  /** What the store knows of events. `unknown` if it cannot tell. */
  async #states(
    keys: readonly (string | undefined)[],
  ): Promise<(EventState | 'unknown' | undefined)[]> {
    const { receiver, logger } = this.#settings;
    const { store } = receiver;
    if (!store.peek) return keys.map(() => 'unknown');
    const known = keys.filter((key) => key !== undefined);
    const states = await askStore(logger, 'store', async () => (await store.peek?.(known)) ?? []);
    return keys.map((key) => (key === undefined ? 'unknown' : states[known.indexOf(key)]));
  }

  /**
   * Goes through the log, newest first, batch by batch, until a row says that it is enough.
   * @returns where to go on, if there is more
   */
  async #search(
    from: string | undefined,
    isEnough: (row: DeliveryRow) => boolean,
    within: Pick<OutcomeLogQuery, 'only' | 'since' | 'until'> = {},
  ): Promise<string | undefined> {
    const log = this.#log();
    const { logger } = this.#settings;
    const until = performance.now() + SEARCH_MS;
    let before = from;
    let enough = false;
    for (let batches = 2; ; batches = Math.min(2 * batches, MOST_BATCHES_AT_ONCE)) {
      const page = await askStore(logger, 'log of outcomes', () =>
        log.read({ ...within, before, batches }),
      );
      for (const row of shownRows(page.rows)) enough = isEnough(row) || enough;
      before = page.before;
      if (before === undefined || enough || performance.now() > until) return before;
    }
  }

  #log(): OutcomeLog {
    const { log } = this.#settings.receiver.store;
    if (log) return log;
    throw noLog();
  }
}

export const noLog = () =>
  new RequestError(
    'not-configured',
    "This receiver's store keeps no outcome log, so there are no deliveries to show. Read the receiver's log lines instead.",
  );

/** Batches of several processes overlap in time. */
function shownRows(rows: readonly OutcomeRow[]): DeliveryRow[] {
  const known = new Set<string>();
  const sorted = [...rows].sort((one, other) => other.at - one.at);
  return sorted.map((row) => {
    let id = row.webhookId ?? `${row.process.slice(0, 8)}-${row.at.toString(36)}`;
    while (row.webhookId === undefined && known.has(id)) id += '+';
    known.add(id);
    return { ...row, id, result: resultOf(row.outcome) };
  });
}

/** @returns whether a row has all that is wanted */
function matcher({
  text,
  call,
  event,
  ...equal
}: Omit<DeliveriesQuery, 'before' | 'since' | 'until' | 'cause' | 'version'>) {
  const searched = text?.toLowerCase();
  const callId = call === undefined ? undefined : redactId(call);
  const exact = Object.entries({ ...equal, callId, eventName: event }).filter(
    ([, wanted]) => wanted !== undefined,
  ) as [keyof DeliveryRow, string][];
  return (row: DeliveryRow): boolean => {
    if (!exact.every(([name, wanted]) => row[name] === wanted)) return false;
    if (searched === undefined) return true;
    const { eventName, callId: id, key, webhookId, outcome, error } = row;
    return [eventName, id, key, webhookId, outcome, error].some((one) =>
      one?.toLowerCase().includes(searched),
    );
  };
}

/** Made as the receiver makes it. Of an event that only a delivery tells, the key of that. */
function keyOf(
  eventName: string,
  callId: string,
  tenant: string | undefined,
  rows: readonly DeliveryRow[],
): string | undefined {
  const eventId = `${callId}:recording-available`;
  const isRecording = eventName === 'call:recording-available';
  const own = eventKey({ eventName, callId, ...(isRecording && { eventId }) });
  const known = rows.find((row) => row.eventName === eventName && row.key !== undefined);
  return known?.key ?? (own === undefined ? undefined : tenantKey(tenant, own));
}
