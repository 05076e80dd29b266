import {
  type DeadLetters,
  type Outcome,
  OUTCOMES,
  type Receiver,
  type Store,
  type StoredDeadLetter,
  WebhookError,
} from '@call-webhooks/core';
import {
  redrive,
  type RedriveOptions as LetterRedrive,
  type RedriveProgress,
  type RedriveResult,
} from '@call-webhooks/recovery';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import {
  endingOf,
  isTaken,
  mayBeRunning,
  postSigned,
  type Target,
  targetOf,
  type TargetOptions,
  withTargetOptions,
} from '../input/target.ts';
import type { OpenedStore } from '../store/engines.ts';
import {
  filterOf,
  type FilterOptions,
  findLetter,
  lettersOf,
  withFilterOptions,
} from '../store/letters.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../store/open-store.ts';
import { duration } from '../terminal/format.ts';
import { showProgress } from '../terminal/prompts.ts';
import { shortId } from '../terminal/table.ts';
import { t, type Text } from '../terminal/text.ts';

interface RedriveOptions extends StoreOptions, FilterOptions, TargetOptions {
  readonly to: string;
  readonly all?: boolean;
  readonly concurrency: number;
}

export function redriveCommand(app: App): Command {
  const command = app
    .command('redrive', 'Send dead letters to the running receiver once more')
    .argument('[id...]', 'their ids, or the beginnings of them')
    .requiredOption('--to <url>', 'the URL of the receiver')
    .option('--all', 'all of them')
    .option('--tenant <name>', 'only those of this tenant; --to and the secret are its own')
    .option('--concurrency <number>', 'how many at once', wholeNumber('--concurrency', 1, 100), 1);
  return withTargetOptions(withStoreOptions(withFilterOptions(command)))
    .addHelpText(
      'after',
      `
Each letter is signed anew and sent. It is removed when the receiver has handled
its event, and stays with its new error when that fails again. Ctrl-C waits for
the letters that are being sent. The store has to be the receiver's.
Without --tenant, letters that belong to a tenant are skipped.
Exit code 1 if any failed, or had no response in time.
${examples(
  ['dead-letters redrive 1f2e --to 3000/hook', 'One letter'],
  ['dead-letters redrive --all --to 3000/hook --concurrency 4', 'All of them'],
  ['dead-letters redrive --event call:completed --to 3000/hook', 'Those of one event'],
)}`,
    )
    .action(app.action((ids: string[], options: RedriveOptions) => run(app, ids, options)));
}

async function run(app: App, ids: readonly string[], options: RedriveOptions): Promise<number> {
  const filter = filterOf(options);
  const { tenant: _tenant, ...others } = options;
  // With ids, --tenant selects nothing: it says whose they have to be.
  const isFiltered = filterOf(ids.length > 0 ? others : options) !== undefined;
  const selected = [
    ids.length > 0,
    isFiltered || options.cause !== undefined || options.all === true,
  ];
  if (!selected.includes(true))
    throw badInput('Which letters?', 'Pass ids, a filter such as --event, or --all.');
  if (!selected.includes(false))
    throw badInput('Ids and filters exclude each other.', 'Remove one of them.');
  const target = await targetOf(app, options.to, options);
  return withStore(app, options, async (opened) => {
    const found = new Set<string>();
    for (const id of ids) found.add((await findLetter(opened.deadLetters, id)).id);
    // A store knows no causes.
    if (options.cause !== undefined)
      for await (const { id } of lettersOf(opened.deadLetters, options)) found.add(id);
    const isEachGiven = ids.length > 0 || options.cause !== undefined;
    const selections = isEachGiven ? [...found].map((id) => ({ id })) : [{ filter }];
    return redriveLetters(app, opened, target, selections, options);
  });
}

async function redriveLetters(
  app: App,
  opened: OpenedStore,
  target: Target,
  selections: readonly Pick<LetterRedrive, 'id' | 'filter'>[],
  { concurrency, tenant }: Pick<RedriveOptions, 'concurrency' | 'tenant'>,
): Promise<number> {
  const { signal } = app;
  const leaseFor = target.timeout + 30_000;
  const isEachGiven = selections.every(({ id }) => id !== undefined);
  const report = new RedriveReport(app, leaseFor, isEachGiven ? selections.length : undefined);
  const { onProgress } = report;
  const receiver = report.watch(httpReceiver(opened.store, target));
  const deadLetters = lettersOfTenant(opened.deadLetters, tenant, report.onOther);
  const settings = { receiver, deadLetters, leaseFor, concurrency, onProgress, signal };
  try {
    for (const selection of selections) {
      if (signal.aborted) break;
      await redrive({ ...settings, ...selection });
    }
    await report.print();
    return report.hasFailed ? EXIT.receiverFailed : EXIT.done;
  } finally {
    report.end();
  }
}

type Deliver = Pick<Receiver, 'deliver'>;

/** Tells what becomes of letters while they are redriven, and what is left at Ctrl-C. */
class RedriveReport {
  readonly #app: App;
  /** How long letters stay claimed if the program is killed; milliseconds. */
  readonly #leaseFor: number;
  readonly #bar: ReturnType<typeof showProgress>;
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
    this.#bar = showProgress(app.io);
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
  #said({ id, result, outcome, reason }: RedriveProgress): Text {
    if (result === 'alreadyHandled') return t`already handled; the letter is removed`;
    if (result === 'unknown') return t`unknown  ${this.#unknown.get(id) ?? ''}`;
    if (this.#others.has(id)) return t`${result}: ${ownerOf(this.#others.get(id))}`;
    if (reason === 'dead-job')
      return t`${result}  it is a dead job of a queue; to run it, call redrive({ deadJobs }) of @call-webhooks/recovery`;
    if (reason === 'not-found') return t`${result}  it is gone: another redrive ran it`;
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

/**
 * Redrives over HTTP: makes the event free in its store, signs the raw body anew and posts it to a
 * receiver on that store. Where the receiver did not take the event, it becomes dead-lettered again.
 */
function httpReceiver(store: Store, target: Target): Pick<Receiver, 'deliver'> {
  return {
    async deliver(input) {
      const letter = input as StoredDeadLetter;
      if (letter.key !== undefined) await store.reopen?.(letter.key);
      const known = letter.webhookId.replace(/^redrive-/, '');
      const webhookId = `redrive-${isKnownBy(known, letter, target) ? known : crypto.randomUUID()}`;
      const answer = await postSigned(letter.rawBody, target, webhookId);
      if (!isTaken(answer) && !mayBeRunning(answer)) await markDead(store, letter.key);
      const { code, message } = endingOf(answer, target, 'No letter was lost.');
      return {
        outcome: code,
        source: 'redrive',
        status: OUTCOMES[code].status,
        durationMs: 0,
        attempt: letter.attempt + 1,
        error: new WebhookError(code, message),
      } satisfies Outcome;
    },
  };
}

/** With the profile, an event without a key of its own is known by its webhook id. */
const isKnownBy = (webhookId: string, { key }: StoredDeadLetter, { profile }: Target): boolean =>
  profile !== undefined && (key === undefined || key.endsWith(`webhook-id:${webhookId}`));

/** Nobody holds the event: until it is redriven, its deliveries shall not run. */
async function markDead(store: Store, key: string | undefined): Promise<void> {
  if (key === undefined) return;
  const token = crypto.randomUUID();
  const claim = { key, token, webhookId: `redrive.${token}`, replayUntil: Date.now() };
  const { status } = await store.admit({ ...claim, leaseMs: 60_000 });
  if (status === 'admitted') await store.complete(key, token, 'dead-lettered');
}

/**
 * The letters of one tenant, or those without one: only these can be claimed. The URL and the secret of
 * a redrive are of one tenant, and the receiver would take the event of another for its own.
 * @param onOther told of a letter that cannot
 */
function lettersOfTenant(
  deadLetters: DeadLetters,
  tenant: string | undefined,
  onOther: (letter: StoredDeadLetter) => void,
): DeadLetters {
  return {
    ...deadLetters,
    async claim(id, claim) {
      const letter = await deadLetters.get(id);
      if (!letter || letter.tenant === tenant) return deadLetters.claim(id, claim);
      onOther(letter);
      return undefined;
    },
  };
}
