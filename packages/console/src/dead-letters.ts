import type { Clock } from '@call-webhooks/client';
import type { DeadLetters, Logger } from '@call-webhooks/core';
import { redactEventName } from '@call-webhooks/core/internal';
import type {
  DeadJobs,
  DeadLetterFilter,
  DeadLetterPage,
  ListedDeadLetter,
} from '@call-webhooks/core/stores';
import { causeId, causeOf, groupByCause, type ErasedFrom } from '@call-webhooks/recovery';
import {
  bodyMatcher,
  contentOf,
  isShortNumber,
  pagesOf,
  persistently,
  type Persistence,
} from '@call-webhooks/recovery/internal';
import type { DeadLetterDetail, DeadLetterRow, DeadLettersPage, PersonFound } from './api-types.ts';
import { detailOf, rowOf, shownError } from './dead-letter-answers.ts';
import { invalid, RequestError } from './http/answer.ts';
import type { DeadLetterSelection, DeadLettersQuery, PersonQuery } from './requests.ts';
import { askStore } from './store-calls.ts';

/** Only the newest of more letters are searched and grouped. */
const MOST_SEARCHED = 10_000;
const PAGE_OF_STORE = 1_000;
/** Each open page asks every 5 seconds; milliseconds. */
const KEPT_MS = 4_000;
/** The names that filters offer change rarely; milliseconds. */
const NAMES_KEPT_MS = 60_000;
const MAX_SHOWN = 50;
/** A search for a person reads bodies: so many at once, for so long, until it has found so many. */
const BODIES_AT_ONCE = 32;
const SEARCH_MS = 3_000;
const MOST_FOUND = 50;

/** The newest letters that match what a store can filter. */
interface Found {
  readonly letters: readonly ListedDeadLetter[];
  readonly total: number;
  /** Whether there were too many to read all of them. */
  readonly isCut: boolean;
}

/** What the filters of a list offer. */
type Names = Pick<DeadLettersPage, 'eventNames' | 'tenants'>;

/** Lists, shows and removes dead letters. */
export class DeadLetterDesk {
  readonly kind: 'store' | 'jobs';
  readonly #letters: DeadLetters | DeadJobs;
  readonly #logger: Logger;
  readonly #clock: Clock;
  #last: { key: string; at: number; found: Promise<Found> } | undefined;
  #names: { at: number; names: Promise<Names> } | undefined;

  constructor(letters: DeadLetters | DeadJobs, logger: Logger, clock: Clock) {
    this.kind = 'claim' in letters ? 'store' : 'jobs';
    this.#letters = letters;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Forgets what was read a moment ago, since it was changed. */
  refresh(): void {
    this.#last = undefined;
  }

  async waiting(): Promise<number> {
    return this.#ask(() => this.#letters.count());
  }

  /** @throws RequestError `invalid-request`, `store-unavailable` */
  async page({ offset = 0, limit = 50, ...selection }: DeadLettersQuery): Promise<DeadLettersPage> {
    const { cause, text, ...filter } = selection;
    const found = await this.#ask(() => this.#find(filterOf(filter)));
    const withText = found.letters.filter(matcher(text));
    const causes = await groupByCause(withText);
    const chosen = causes.find(({ id }) => id === cause)?.text;
    const matching =
      cause === undefined ? withText : withText.filter((letter) => causeOf(letter) === chosen);
    const isFiltered = Object.values(filter).some((one) => one !== undefined);
    return {
      letters: matching.slice(offset, offset + limit).map(rowOf),
      total: cause === undefined && text === undefined ? found.total : matching.length,
      ...(found.isCut && { searched: found.letters.length }),
      oldestAt: await this.#oldestAt(found, isFiltered),
      ...('claim' in this.#letters && { keepFor: this.#letters.keepFor ?? null }),
      causes: causes
        .slice(0, MAX_SHOWN)
        .map(({ text: cause, firstAt, lastAt, example, ...rest }) => ({
          ...rest,
          text: shownCause(cause),
          firstAt: firstAt.getTime(),
          lastAt: lastAt.getTime(),
          example: { ...example, error: shownError(example.error) },
        })),
      // With a filter, the list has only what was chosen.
      ...(isFiltered ? await this.#ask(() => this.#allNames()) : namesOf(found.letters)),
    };
  }

  /**
   * The letters whose bodies have the data of a person, newest first, for a few seconds of reading.
   * @throws RequestError `invalid-request`, `store-unavailable`
   */
  async search({ about, before, cause, text, ...filter }: PersonQuery): Promise<PersonFound> {
    const isAbout = personMatcher(about);
    const from = before === undefined ? undefined : positionOf(before);
    const until = from && { until: new Date(from.failedAt + 1) };
    const found = await this.#ask(() => this.#find({ ...filterOf(filter), ...until }));
    const isChosen = selector({ cause, text });
    const letters: DeadLetterRow[] = [];
    const end = performance.now() + SEARCH_MS;
    let searched = 0;
    let last: ListedDeadLetter | undefined;
    const left = from ? after(from, found.letters) : found.letters;
    while (searched < left.length && letters.length < MOST_FOUND && performance.now() < end) {
      const next = left.slice(searched, searched + BODIES_AT_ONCE);
      const matching = await this.#ask(() =>
        Promise.all(
          next.map(async (letter) => {
            const whole = (await isChosen(letter)) && (await this.#letters.get(letter.id));
            return whole && isAbout(contentOf(whole.rawBody)) ? rowOf(whole) : undefined;
          }),
        ),
      );
      letters.push(...matching.filter((row) => row !== undefined));
      searched += next.length;
      last = next.at(-1);
    }
    const hasMore = searched < left.length || found.isCut;
    return {
      letters,
      searched,
      searchedTo: last?.failedAt.getTime() ?? null,
      ...(isShortNumber(about) && { inFullOnly: true }),
      ...(hasMore && last && { before: `${String(last.failedAt.getTime())}.${last.id}` }),
    };
  }

  /**
   * The error that the letters have in common, if a cause was chosen.
   * @throws RequestError `invalid-request`, `store-unavailable`
   */
  async causeText({ cause, ...rest }: DeadLetterSelection): Promise<string | undefined> {
    if (cause === undefined) return undefined;
    const { causes } = await this.page({ ...rest, limit: 1 });
    return causes.find(({ id }) => id === cause)?.text;
  }

  /**
   * The ids of all letters that are meant, however many there are, oldest first.
   * @param persistence how a page that cannot be read is tried again
   */
  async ids(
    { cause, text, ...filter }: DeadLetterSelection,
    persistence: Persistence,
  ): Promise<string[]> {
    const ids: string[] = [];
    const isChosen = selector({ cause, text });
    const page = (cursor: string | undefined) =>
      persistently(
        'list() of the store of dead letters',
        () => this.#page(filterOf(filter), cursor),
        persistence,
      );
    for await (const letters of pagesOf(page))
      for (const letter of letters) if (await isChosen(letter)) ids.push(letter.id);
    return ids;
  }

  /**
   * Those that are meant, as `erase` takes them. A dead job needs no claim: no worker runs it.
   * @param selection besides the person
   */
  chosen({ cause, text, ...filter }: DeadLetterSelection): NonNullable<ErasedFrom['deadLetters']> {
    const letters = this.#letters;
    const isChosen = selector({ cause, text });
    return {
      async list(query) {
        const page = await letters.list({ ...query, ...filterOf(filter) });
        const are = await Promise.all(page.letters.map(isChosen));
        return { ...page, letters: page.letters.filter((_, at) => are[at]) };
      },
      get: (id) => letters.get(id),
      claim: (id, claim) => ('claim' in letters ? letters.claim(id, claim) : letters.get(id)),
      settle: (id, token) => ('claim' in letters ? letters.settle(id, token) : letters.remove(id)),
    };
  }

  async row(id: string): Promise<DeadLetterRow | undefined> {
    const letter = await this.#ask(() => this.#letters.get(id));
    return letter && rowOf(letter);
  }

  /**
   * @param isWhole whether to show the body as it is
   * @throws RequestError `unknown-letter`, `store-unavailable`
   */
  async detail(id: string, isWhole = false): Promise<DeadLetterDetail> {
    const letter = await this.#ask(() => this.#letters.get(id));
    if (letter) return detailOf(letter, isWhole);
    throw new RequestError(
      'unknown-letter',
      'There is no such dead letter. It may have been redriven or removed.',
    );
  }

  async remove(id: string): Promise<boolean> {
    this.refresh();
    return this.#ask(() => this.#letters.remove(id));
  }

  /** When the letter failed last that has waited longest. */
  async #oldestAt({ letters, isCut }: Found, isFiltered: boolean): Promise<number | null> {
    const oldest =
      isCut || isFiltered
        ? (await this.#ask(() => this.#letters.list({ limit: 1 }))).letters[0]
        : letters.at(-1);
    return oldest?.failedAt.getTime() ?? null;
  }

  /** The names that the filters offer, whatever is filtered now. */
  #allNames(): Promise<Names> {
    if (this.#names && this.#isWithin(NAMES_KEPT_MS, this.#names.at)) return this.#names.names;
    const names = this.#read({}).then(({ letters }) => namesOf(letters));
    this.#names = { at: this.#clock.now(), names };
    names.catch(() => (this.#names = undefined));
    return names;
  }

  /** Pages that are open at the same time share what was read, for a moment. */
  #find(filter: DeadLetterFilter): Promise<Found> {
    const key = JSON.stringify(filter);
    if (this.#last?.key === key && this.#isWithin(KEPT_MS, this.#last.at)) return this.#last.found;
    const found = this.#read(filter);
    this.#last = { key, at: this.#clock.now(), found };
    // Nobody may ask again: so many letters must not stay in memory.
    const forget = () => {
      if (this.#last?.found === found) this.refresh();
    };
    found.catch(forget);
    setTimeout(forget, KEPT_MS).unref();
    return found;
  }

  /** Whether a time is that recent. A clock that was set back must not keep an old answer. */
  #isWithin(ms: number, at: number): boolean {
    const age = this.#clock.now() - at;
    return age >= 0 && age < ms;
  }

  async #read(filter: DeadLetterFilter): Promise<Found> {
    const total = await this.#letters.count(filter);
    const isCut = total > MOST_SEARCHED;
    const newest = isCut ? await this.#newest(filter) : filter;
    const letters: ListedDeadLetter[] = [];
    for await (const page of pagesOf((cursor) => this.#page(newest, cursor))) {
      letters.push(...page.slice(0, MOST_SEARCHED - letters.length));
      if (letters.length >= MOST_SEARCHED) break;
    }
    // Some may have come or gone since they were counted.
    return { letters: letters.reverse(), total: isCut ? total : letters.length, isCut };
  }

  /** Stores list the oldest first: a filter that leaves so many of them out that the rest can be read. */
  async #newest(filter: DeadLetterFilter): Promise<DeadLetterFilter> {
    const [oldest] = (await this.#letters.list({ ...filter, limit: 1 })).letters;
    let tooMany = oldest?.failedAt.getTime() ?? 0;
    let few = filter.until?.getTime() ?? Date.now() + 60_000;
    // Until what is read is at least half of what may be, or the times cannot be told apart.
    while (few - tooMany > 1) {
      const since = Math.floor((tooMany + few) / 2);
      const count = await this.#letters.count({ ...filter, since: new Date(since) });
      if (count > MOST_SEARCHED) tooMany = since;
      else few = since;
      if (count <= MOST_SEARCHED && count >= MOST_SEARCHED / 2) break;
    }
    return { ...filter, since: new Date(few) };
  }

  #page(filter: DeadLetterFilter, cursor: string | undefined): Promise<DeadLetterPage> {
    return this.#letters.list({ ...filter, limit: PAGE_OF_STORE, cursor });
  }

  #ask<T>(call: () => Promise<T>): Promise<T> {
    return askStore(this.#logger, 'store of dead letters', call);
  }
}

/** @throws RequestError `invalid-request` for what would find too much; it never has the text */
export function personMatcher(about: string): NonNullable<ReturnType<typeof bodyMatcher>> {
  const isAbout = bodyMatcher(about);
  if (isAbout) return isAbout;
  throw invalid(
    'about: expected a phone number of at least five digits, an email address or a name',
  );
}

const filterOf = ({ event, reason, tenant }: DeadLetterSelection): DeadLetterFilter => ({
  eventName: event,
  reason,
  tenant,
});

function namesOf(letters: readonly ListedDeadLetter[]): Names {
  const names = (of: (letter: ListedDeadLetter) => string | undefined) =>
    [...new Set(letters.flatMap((letter) => of(letter) ?? []))].sort().slice(0, MAX_SHOWN);
  return {
    eventNames: names(({ eventName }) =>
      // The store could not find a redacted one.
      eventName === undefined || redactEventName(eventName) !== eventName ? undefined : eventName,
    ),
    tenants: names(({ tenant }) => tenant),
  };
}

/** Where a search goes on: after this letter. */
interface Position {
  readonly failedAt: number;
  readonly id: string;
}

/** @throws RequestError `invalid-request` for a text that no search gave */
function positionOf(before: string): Position {
  const [, failedAt, id] = /^(\d{1,15})\.(.+)$/s.exec(before) ?? [];
  if (failedAt === undefined || id === undefined)
    throw invalid('before: expected the value of the previous page');
  return { failedAt: Number(failedAt), id };
}

/** The letters that come after one. If that was removed, those of the same time are looked at again. */
function after(
  { failedAt, id }: Position,
  letters: readonly ListedDeadLetter[],
): readonly ListedDeadLetter[] {
  const at = letters.findIndex((letter) => letter.id === id);
  if (at >= 0) return letters.slice(at + 1);
  return letters.filter((letter) => letter.failedAt.getTime() <= failedAt);
}

/** What was left out at the end of a sentence needs no full stop. */
const shownCause = (cause: string) => cause.replace(/…\.(?=\s|$)/g, '…');

/** @returns whether a letter has the cause, and the text in what is shown of it */
function selector({ cause, text }: Pick<DeadLetterSelection, 'cause' | 'text'>) {
  const hasText = matcher(text);
  const known = new Map<string, boolean>();
  return async (letter: ListedDeadLetter): Promise<boolean> => {
    if (!hasText(letter)) return false;
    if (cause === undefined) return true;
    const own = causeOf(letter);
    if (!known.has(own)) known.set(own, (await causeId(own)) === cause);
    return known.get(own) === true;
  };
}

/** @returns whether a letter has the text in what is shown of it */
function matcher(text: string | undefined): (letter: ListedDeadLetter) => boolean {
  const wanted = text?.toLowerCase();
  if (wanted === undefined) return () => true;
  return ({ id, webhookId, eventName, callId, key, error }) =>
    [id, webhookId, eventName, callId, key, error].some((one) =>
      one?.toLowerCase().includes(wanted),
    );
}
