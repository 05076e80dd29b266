import type { Receiver, StoredDeadLetter } from '@call-webhooks/core';
import type { RedriveProgress, RedriveResult } from '@call-webhooks/recovery';
import type { App } from '../../app.ts';
import { duration } from '../../terminal/format.ts';
import { progressBar } from '../../terminal/progress.ts';
import { shortId } from '../../terminal/table.ts';
import { t, type Text } from '../../terminal/text.ts';

type Deliver = Pick<Receiver, 'deliver'>;

/** Tells what becomes of letters while they are redriven, and what is left at Ctrl-C. */
export class RedriveReport {
  readonly #app: App;
  /** How long letters stay claimed if the program is killed; milliseconds. */
  readonly #leaseFor: number;
  readonly #bar: ReturnType<typeof progressBar>;
  readonly #counts: RedriveResult = {
    ...{ handled: 0, queued: 0, failed: 0 },
    ...{ alreadyHandled: 0, unknown: 0, skipped: 0 },
  };
  /** Why the result of a letter is not known. */
  readonly #unknown = new Map<string, string>();
  /** Letters that are not of the tenant of this redrive, and whose they are. */
  readonly #others = new Map<string, string | undefined>();
  /** How many letters there are, once that is known. */
  #total: number | undefined;
  #done = 0;
  #sending = 0;
  #printing = Promise.resolve();

  constructor(app: App, leaseFor: number, total: number | undefined) {
    this.#app = app;
    this.#leaseFor = leaseFor;
    this.#total = total;
    this.#bar = progressBar(app.io, app.output.messageColors, String);
    app.signal.addEventListener('abort', this.#onStop);
    app.io.killed.addEventListener('abort', this.#onKilled);
  }

  /** Whether a letter failed, or may have. */
  get hasFailed(): boolean {
    return this.#counts.failed + this.#counts.unknown > 0;
  }

  /** The same receiver, with an eye on what is being sent. */
  watch(receiver: Deliver): Deliver {
    return {
      deliver: async (input, options) => {
        this.#sending++;
        try {
          const outcome = await receiver.deliver(input, options);
          if (outcome.outcome === 'deadline')
            this.#unknown.set((input as StoredDeadLetter).id, outcome.error?.message ?? '');
          return outcome;
        } finally {
          this.#sending--;
        }
      },
    };
  }

  /** Notes a letter that is skipped since it is not of the tenant of this redrive. */
  readonly onOther = ({ id, tenant }: StoredDeadLetter): void => {
    this.#others.set(id, tenant);
  };

  readonly onProgress = (progress: RedriveProgress): void => {
    const { output } = this.#app;
    const { id, result, outcome, total } = progress;
    this.#counts[result]++;
    this.#done++;
    this.#total ??= total;
    this.#bar.clear();
    const tenant = progress.letter?.tenant ?? this.#others.get(id);
    const record = { type: 'letter', id, result, outcome, tenant };
    if (output.json) this.#printing = this.#printing.then(() => output.print(record));
    else if (result !== 'handled') output.message(t`${shortId(id)}  ${this.#said(progress)}`);
    this.#bar.update(this.#done, this.#total);
  };

  /** What became of a letter that was not handled, for people. */
  #said({ id, result, outcome, letter }: RedriveProgress): Text {
    if (result === 'alreadyHandled') return t`already handled; the letter is removed`;
    if (result === 'unknown') return t`unknown  ${this.#unknown.get(id) ?? ''}`;
    if (this.#others.has(id)) return t`${result}: ${ownerOf(this.#others.get(id))}`;
    if (letter?.source === 'queue') return t`${result}  it is a dead job of a queue`;
    if (outcome === 'in-progress') return t`${result}  its event is being handled`;
    return t`${result}  ${outcome ?? 'another redrive has it'}`;
  }

  /** Prints the result of all. */
  async print(): Promise<void> {
    const { output, signal } = this.#app;
    await this.#printing;
    this.#bar.clear();
    await output.print({ type: 'result', ...this.#counts }, ({ bold }) => {
      const { handled, queued, alreadyHandled, failed, unknown, skipped } = this.#counts;
      const more = [
        queued > 0 ? t`, ${queued} queued` : t``,
        alreadyHandled > 0 ? t`, ${alreadyHandled} already handled` : t``,
      ] as const;
      const unclear = unknown > 0 ? t`, ${unknown} unknown` : t``;
      return t`${bold(handled)} handled${more[0]}${more[1]}, ${failed} failed${unclear}, ${skipped} skipped`;
    });
    if (signal.aborted) this.#tellLeft();
  }

  /** Removes the bar, and listens no more. */
  end(): void {
    this.#bar.clear();
    this.#app.signal.removeEventListener('abort', this.#onStop);
    this.#app.io.killed.removeEventListener('abort', this.#onKilled);
  }

  readonly #onStop = (): void => {
    if (this.#sending === 0) return;
    this.#bar.clear();
    this.#app.output.message(
      `Waiting for ${letters(this.#sending)} to be handled. Press Ctrl-C again to give up.`,
    );
  };

  readonly #onKilled = (): void => {
    const { output } = this.#app;
    this.#bar.clear();
    if (this.#sending > 0)
      output.message(
        `The result of ${letters(this.#sending)} is unknown, but nothing is lost. To find out, run the command again in ${duration(this.#leaseFor)}.`,
      );
    this.#tellLeft();
  };

  #tellLeft(): void {
    const { output } = this.#app;
    const left = (this.#total ?? 0) - this.#done - this.#sending;
    if (this.#total === undefined && this.#sending === 0) output.message('Nothing was sent.');
    else if (left > 0)
      output.message(`${String(left)} not sent. To send them, run the command again.`);
  }
}

const ownerOf = (tenant: string | undefined): Text =>
  tenant === undefined
    ? t`it belongs to no tenant; leave out --tenant`
    : t`it belongs to tenant ${tenant}; pass --tenant ${tenant} with its own --to and --secret`;

const letters = (count: number): string => (count === 1 ? '1 letter' : `${String(count)} letters`);
