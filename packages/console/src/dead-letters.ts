import type { DeadLetters, Logger, StoredDeadLetter } from '@call-webhooks/core';
import { redactEventName, withRedactedIds } from '@call-webhooks/core/internal';
import type {
  DeadJobs,
  DeadLetterFilter,
  DeadLetterPage,
  ListedDeadLetter,
} from '@call-webhooks/core/stores';
import { causeId, causeOf, groupByCause, maskedBody } from '@call-webhooks/recovery';
import { pagesOf, persistently, type Persistence } from '@call-webhooks/recovery/internal';
import type {
  DeadLetterBody,
  DeadLetterDetail,
  DeadLetterRow,
  DeadLettersPage,
  DeliveryRow,
} from './api-types.ts';
import { RequestError } from './http/answer.ts';
import type { DeadLetterSelection, DeadLettersQuery } from './requests.ts';
import { askStore } from './store-calls.ts';

/** Only the newest of more letters are searched and grouped. */
const MOST_SEARCHED = 10_000;
const PAGE_OF_STORE = 1_000;
/** Each open page asks every 5 seconds; milliseconds. */
const KEPT_MS = 4_000;
const MAX_SHOWN = 50;
const MAX_ERROR = 2_000;
/** The longest text that is sent; characters. */
const MAX_TEXT = 256 * 1024;

/** The log has it before the error, and a dead letter has it as its reason. */
const SAYS_SO = /^The handler failed: /;

/** The newest letters that match what a store can filter. */
interface Found {
  readonly letters: readonly ListedDeadLetter[];
  readonly total: number;
}

/** Lists, shows and removes dead letters. */
export class DeadLetterDesk {
  readonly kind: 'store' | 'jobs';
  readonly #letters: DeadLetters | DeadJobs;
  readonly #logger: Logger;
  #last: { key: string; found: Promise<Found> } | undefined;

  constructor(letters: DeadLetters | DeadJobs, logger: Logger) {
    this.kind = 'claim' in letters ? 'store' : 'jobs';
    this.#letters = letters;
    this.#logger = logger;
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
    const isSearched = found.letters.length < found.total;
    const names = (of: (letter: ListedDeadLetter) => string | undefined) =>
      [...new Set(found.letters.flatMap((letter) => of(letter) ?? []))].sort().slice(0, MAX_SHOWN);
    return {
      letters: matching.slice(offset, offset + limit).map(rowOf),
      total: cause === undefined && text === undefined ? found.total : matching.length,
      ...(isSearched && { searched: found.letters.length }),
      causes: causes
        .slice(0, MAX_SHOWN)
        .map(({ text: cause, firstAt, lastAt, example, ...rest }) => ({
          ...rest,
          text: shownCause(cause),
          firstAt: firstAt.getTime(),
          lastAt: lastAt.getTime(),
          example: { ...example, error: example.error.slice(0, MAX_ERROR) },
        })),
      eventNames: names(({ eventName }) =>
        // The store could not find a redacted one.
        eventName === undefined || redactEventName(eventName) !== eventName ? undefined : eventName,
      ),
      tenants: names(({ tenant }) => tenant),
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
    const hasText = matcher(text);
    const known = new Map<string, boolean>();
    const isOfCause = async (letter: ListedDeadLetter) => {
      const own = causeOf(letter);
      if (cause !== undefined && !known.has(own)) known.set(own, (await causeId(own)) === cause);
      return cause === undefined || known.get(own) === true;
    };
    const page = (cursor: string | undefined) =>
      persistently(
        'list() of the store of dead letters',
        () => this.#page(filterOf(filter), cursor),
        persistence,
      );
    for await (const letters of pagesOf(page))
      for (const letter of letters)
        if (hasText(letter) && (await isOfCause(letter))) ids.push(letter.id);
    return ids;
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

  /** Pages that are open at the same time share what was read, for a moment. */
  #find(filter: DeadLetterFilter): Promise<Found> {
    const key = JSON.stringify(filter);
    if (this.#last?.key === key) return this.#last.found;
    const found = this.#read(filter);
    this.#last = { key, found };
    const forget = () => {
      if (this.#last?.found === found) this.refresh();
    };
    found.catch(forget);
    setTimeout(forget, KEPT_MS).unref();
    return found;
  }

  async #read(filter: DeadLetterFilter): Promise<Found> {
    const total = await this.#letters.count(filter);
    const newest = total > MOST_SEARCHED ? await this.#newest(filter) : filter;
    const letters: ListedDeadLetter[] = [];
    for await (const page of pagesOf((cursor) => this.#page(newest, cursor))) {
      letters.push(...page.slice(0, MOST_SEARCHED - letters.length));
      if (letters.length >= MOST_SEARCHED) break;
    }
    return { letters: letters.reverse(), total: Math.max(total, letters.length) };
  }

  /** Stores list the oldest first: a filter that leaves so many of them out that the rest can be read. */
  async #newest(filter: DeadLetterFilter): Promise<DeadLetterFilter> {
    const [oldest] = (await this.#letters.list({ ...filter, limit: 1 })).letters;
    let tooMany = oldest?.failedAt.getTime() ?? 0;
    let few = Date.now() + 60_000;
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

const filterOf = ({ event, reason, tenant }: DeadLetterSelection): DeadLetterFilter => ({
  eventName: event,
  reason,
  tenant,
});

/** What was left out at the end of a sentence needs no full stop. */
const shownCause = (cause: string) => cause.replace(/…\.(?=\s|$)/g, '…');

/** @returns whether a letter has the text in what is shown of it */
function matcher(text: string | undefined): (letter: ListedDeadLetter) => boolean {
  const wanted = text?.toLowerCase();
  if (wanted === undefined) return () => true;
  return ({ id, webhookId, eventName, callId, key, error }) =>
    [id, webhookId, eventName, callId, key, error].some((one) =>
      one?.toLowerCase().includes(wanted),
    );
}

/** A letter without its body. Ids are as in log lines. */
function rowOf(letter: ListedDeadLetter): DeadLetterRow {
  const { id, reason, tenant, webhookId, eventName, callId, key, claimedUntil } =
    withRedactedIds(letter);
  return {
    id,
    reason,
    ...(tenant !== undefined && { tenant }),
    webhookId,
    ...(eventName !== undefined && { eventName }),
    ...(callId !== undefined && { callId }),
    ...(key !== undefined && { key }),
    attempt: letter.attempt,
    signedAt: letter.timestamp.getTime(),
    failedAt: letter.failedAt.getTime(),
    source: letter.source,
    error: letter.error.slice(0, MAX_ERROR),
    attempts: earlierAttempts(letter) + letter.history.length,
    ...(claimedUntil && { claimedUntil: claimedUntil.getTime() }),
  };
}

/** The first failure of the history was the last of so many attempts; each later one is one more. */
const earlierAttempts = ({ attempt, history: [first] }: ListedDeadLetter): number =>
  Math.max(0, (first?.attempt ?? attempt) - 1);

function detailOf(letter: StoredDeadLetter, isWhole: boolean): DeadLetterDetail {
  const { rawBody, history } = letter;
  const text = isWhole ? new TextDecoder().decode(rawBody) : maskedBody(rawBody);
  return {
    ...rowOf(letter),
    history: history.map(({ at, source, attempt, error }) => ({
      at: at.getTime(),
      source,
      attempt,
      error: error.slice(0, MAX_ERROR),
    })),
    earlierAttempts: earlierAttempts(letter),
    body: { masked: !isWhole, ...shown(text), bytes: rawBody.length },
  };
}

/**
 * With the attempts of before it was a dead letter, as far as the log has them.
 * @param failures of its event, oldest first
 */
export function withAttempts(
  letter: DeadLetterDetail,
  failures: readonly DeliveryRow[],
): DeadLetterDetail {
  const [first] = letter.history;
  const earlier = failures.flatMap(({ at, source, attempt, error = '' }) =>
    attempt !== undefined && first && attempt < first.attempt && at <= first.at
      ? [{ at, source, attempt, error: error.replace(SAYS_SO, '') }]
      : [],
  );
  return {
    ...letter,
    history: [...earlier, ...letter.history],
    earlierAttempts: Math.max(0, letter.earlierAttempts - earlier.length),
  };
}

function shown(text: string | undefined): Pick<DeadLetterBody, 'text' | 'truncated'> {
  if (text === undefined) return { text: null, truncated: false };
  return { text: text.slice(0, MAX_TEXT), truncated: text.length > MAX_TEXT };
}
