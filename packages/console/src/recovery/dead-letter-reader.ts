import {
  WebhookError,
  type DeadLetters,
  type Logger,
  type StoredDeadLetter,
} from '@call-webhooks/core';
import type { DeadJobs, DeadLetterFilter, DeadLetterQuery } from '@call-webhooks/core/stores';
import type { DeadLetterDetail, DeadLetterRow, DeadLettersPage } from '../api-types.ts';
import { RequestError } from '../http/answer.ts';
import { invalid } from '../http/query.ts';
import { logFailure } from '../log-lines.ts';
import { withTimeout } from '../with-timeout.ts';
import { letterDetail, letterRow } from './dead-letter-rows.ts';
import { maskedBody, wholeBody } from './masked-body.ts';

/** How long the store may take; milliseconds. */
const STORE_MS = 5_000;

/** Lists, shows and removes dead letters. */
export class DeadLetterReader {
  readonly kind: 'store' | 'jobs';
  readonly #letters: DeadLetters | DeadJobs;
  readonly #logger: Logger;

  constructor(letters: DeadLetters | DeadJobs, logger: Logger) {
    this.kind = 'claim' in letters ? 'store' : 'jobs';
    this.#letters = letters;
    this.#logger = logger;
  }

  async page(query: DeadLetterQuery): Promise<DeadLettersPage> {
    const { limit: _limit, cursor: _cursor, ...filter } = query;
    const [page, total] = await this.#ask(
      Promise.all([
        this.#letters.list(query),
        this.#letters.count(filter satisfies DeadLetterFilter),
      ]),
    );
    const { letters, cursor } = page;
    return { letters: letters.map(letterRow), ...(cursor !== undefined && { cursor }), total };
  }

  async row(id: string): Promise<DeadLetterRow | undefined> {
    const letter = await this.#ask(this.#letters.get(id));
    return letter && letterRow(letter);
  }

  /** @throws RequestError `unknown-letter` */
  async detail(id: string): Promise<DeadLetterDetail> {
    const letter = await this.#letter(id);
    return letterDetail(letter, maskedBody(letter.rawBody));
  }

  /**
   * With the body as it is.
   * @throws RequestError `unknown-letter`
   */
  async whole(id: string): Promise<DeadLetterDetail> {
    const letter = await this.#letter(id);
    return letterDetail(letter, wholeBody(letter.rawBody));
  }

  remove(id: string): Promise<boolean> {
    return this.#ask(this.#letters.remove(id));
  }

  async #letter(id: string): Promise<StoredDeadLetter> {
    const letter = await this.#ask(this.#letters.get(id));
    if (letter) return letter;
    throw new RequestError(
      'unknown-letter',
      'There is no such dead letter. It may have been redriven or removed.',
    );
  }

  async #ask<T>(asked: Promise<T>): Promise<T> {
    try {
      return await withTimeout(asked, STORE_MS);
    } catch (error) {
      // Its message names what is wrong with the query, and never a value.
      if (error instanceof WebhookError && error.code === 'invalid-options')
        throw invalid(error.message.replace(/\.$/, ''));
      logFailure(this.#logger, 'the store of dead letters failed', error);
      throw new RequestError(
        'store-unavailable',
        'The store of dead letters failed. The log has its error.',
      );
    }
  }
}
