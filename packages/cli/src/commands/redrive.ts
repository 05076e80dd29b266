import {
  type Outcome,
  OUTCOMES,
  type Receiver,
  type Store,
  type StoredDeadLetter,
  WebhookError,
} from '@call-webhooks/core';
import { claimIdOf, newWebhookId } from '@call-webhooks/core/internal';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { redrive, type RedriveProgress, type RedriveResult } from '@call-webhooks/recovery';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { SHORT_NUMBER } from '../input/values.ts';
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
import type { OpenedStore } from '../store/engine.ts';
import {
  filterOf,
  type FilterOptions,
  findLetter,
  lettersOf,
  readQuery,
  withFilterOptions,
} from '../store/letters.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../store/open-store.ts';
import { otherTenants } from '../store/tenants.ts';
import { duration } from '../terminal/format.ts';
import { showProgress } from '../terminal/prompts.ts';
import { shortId } from '../terminal/table.ts';
import { t } from '../terminal/text.ts';

interface RedriveOptions extends StoreOptions, FilterOptions, TargetOptions {
  readonly to: string;
  readonly all?: boolean;
  readonly concurrency: number;
}

export function redriveCommand(app: App): Command {
  const command = app
    .command('redrive', 'Send dead letters to the running receiver again')
    .argument('[id...]', 'the ids of the dead letters, or the first characters of each')
    .requiredOption(
      '--to <url>',
      'the URL of the receiver, of the same tenant as the dead letters; 3000/hook means http://127.0.0.1:3000/hook',
    )
    .option('--all', 'all dead letters')
    .option(
      '--concurrency <number>',
      'the number of requests at the same time',
      wholeNumber('--concurrency', 1, 100),
      1,
    );
  return withTargetOptions(withStoreOptions(withFilterOptions(command)))
    .addHelpText(
      'after',
      `
The command signs each dead letter with a new timestamp and sends it. A dead
letter is removed when the receiver has handled its event. If the event fails
again, the receiver writes the new error into the dead letter. Ctrl-C waits for
the requests that are in progress. Pass the store that the receiver uses. If the
receiver has tenants, redrive one tenant at a time: pass --tenant with the URL
and the secret of this tenant. The URL and the secret decide whose handlers run,
and no response says whose they are: with those of another tenant, its handlers
run these events, as its own.

Exit code 1 if a dead letter failed again, got no response in time, or is a dead
job of a queue, which only the queue can run.`,
    )
    .action(app.action((ids: string[], options: RedriveOptions) => run(app, ids, options)));
}

async function run(app: App, ids: readonly string[], options: RedriveOptions): Promise<number> {
  const { tenant, cause, contains, all = false, ...filters } = options;
  const isFiltered = all || (cause ?? contains ?? filterOf(filters)) !== undefined;
  if (ids.length === 0 && !isFiltered && tenant === undefined)
    throw badInput(
      'The command does not say which dead letters to redrive.',
      'Pass ids, a filter such as --event, or --all.',
    );
  if (ids.length > 0 && isFiltered)
    throw badInput('Ids and filters cannot be combined.', 'Pass either ids or filters.');
  const query = await readQuery(app.io, options);
  const target = await targetOf(app, options.to, options);
  const { output } = app;
  return withStore(app, options, async (opened) => {
    const letters: ListedDeadLetter[] = [];
    for (const id of ids) letters.push(await findLetter(opened.deadLetters, id));
    if (ids.length === 0)
      for await (const letter of lettersOf(opened.deadLetters, query)) {
        app.signal.throwIfAborted();
        letters.push(letter);
      }
    if (letters.length === 0) output.message('No dead letters match.');
    if (letters.length === 0 && query.hasShortNumber) output.message(SHORT_NUMBER);
    const refusal = otherTenants(letters, options.tenant);
    if (refusal) throw refusal;
    return redriveLetters(app, opened, target, letters, options);
  });
}

/** Runs these letters, and tells what becomes of each, and what is left at Ctrl-C. */
async function redriveLetters(
  app: App,
  { store, deadLetters }: OpenedStore,
  target: Target,
  all: readonly ListedDeadLetter[],
  { concurrency, tenant }: RedriveOptions,
): Promise<number> {
  const { output, io, signal } = app;
  const leaseFor = target.timeout + 30_000;
  // Only its queue knows whether a dead job was run since.
  const deadJobs = all.filter(({ source }) => source === 'queue');
  const letters = all.filter(({ source }) => source !== 'queue');
  if (output.json)
    for (const { id } of deadJobs)
      await output.print({ type: 'letter', id, result: 'skipped', reason: 'dead-job', tenant });
  const bar = showProgress(io);
  const tell = (line: string) => () => {
    bar.clear();
    output.message(line);
  };
  const onStop = tell('Waiting for the requests in progress. Press Ctrl-C again to stop at once.');
  const onKilled = tell(
    `The result of the requests in progress is unknown, but no dead letter is lost. To see the result, run the command again in ${duration(leaseFor)}.`,
  );
  let done = 0;
  let printing = Promise.resolve();
  const onProgress = (progress: RedriveProgress): void => {
    const { id, result, outcome } = progress;
    done++;
    bar.clear();
    const record = { type: 'letter', id, result, outcome, tenant };
    if (output.json) printing = printing.then(() => output.print(record));
    else if (result !== 'handled') output.message(t`${shortId(id)}  ${whatBecame(progress)}`);
    bar.update(done, letters.length);
  };
  signal.addEventListener('abort', onStop);
  io.killed.addEventListener('abort', onKilled);
  try {
    const counts = await redrive({
      receiver: httpReceiver(store, target),
      deadLetters,
      ids: letters.map(({ id }) => id),
      leaseFor,
      concurrency,
      onProgress,
      signal,
    });
    await printing;
    bar.clear();
    await printCounts(app, { ...counts, skipped: counts.skipped + deadJobs.length });
    if (deadJobs.length > 0) output.message(DEAD_JOBS);
    if (done < letters.length)
      output.message(
        `${String(letters.length - done)} not sent. To send them, run the command again.`,
      );
    return counts.failed + counts.unknown + deadJobs.length > 0 ? EXIT.attention : EXIT.done;
  } finally {
    bar.clear();
    signal.removeEventListener('abort', onStop);
    io.killed.removeEventListener('abort', onKilled);
  }
}

const DEAD_JOBS =
  'The skipped dead letters are dead jobs of a queue. To run them, call redrive({ deadJobs }) from @call-webhooks/recovery. To remove these copies: npx call-webhooks dead-letters remove';

/** What became of a letter that was not handled. */
function whatBecame({ result, outcome }: RedriveProgress): string {
  if (result === 'alreadyHandled') return 'already handled: the dead letter was removed';
  if (result === 'unknown')
    return 'unknown: there was no response, so the handler may still be running';
  if (result === 'notFound') return 'not found: it was redriven or removed in the meantime';
  if (outcome === 'in-progress') return 'skipped: its event is being handled';
  if (outcome === 'dead-lettered') return 'failed again: the dead letter has the new error';
  const log = result === 'failed' ? "; the error is in the receiver's log" : '';
  return `${result}: ${outcome ?? 'another redrive is running it'}${log}`;
}

function printCounts({ output }: App, counts: RedriveResult): Promise<void> {
  return output.print({ type: 'result', ...counts }, ({ bold }) => {
    const { handled, queued, alreadyHandled, failed, unknown, skipped, notFound } = counts;
    const orNothing = (count: number, word: string) =>
      count > 0 ? `, ${String(count)} ${word}` : '';
    const more = orNothing(queued, 'queued') + orNothing(alreadyHandled, 'already handled');
    return t`${bold(handled)} handled${more}, ${failed} failed${orNothing(unknown, 'unknown')}, ${skipped} skipped${orNothing(notFound, 'not found')}`;
  });
}

/**
 * Redrives over HTTP: makes the event free in its store, re-signs the raw body and posts it to a
 * receiver on that store. Where the receiver did not take the event, it becomes dead-lettered again.
 */
function httpReceiver(store: Store, target: Target): Pick<Receiver, 'deliver'> {
  return {
    async deliver(input) {
      const letter = input as StoredDeadLetter;
      if (letter.key !== undefined) await store.reopen?.(letter.key);
      const answer = await postSigned(
        letter.rawBody,
        target,
        newWebhookId('redrive', letter.attempt),
      );
      if (!isTaken(answer) && !mayBeRunning(answer)) await markDead(store, letter.key);
      const { code, message } = endingOf(answer, target, 'No dead letter was lost.');
      // Only the receiver knows the new error, and has not written it: the last one that is known keeps the cause.
      const isFailure = code === 'handler-failed' || code === 'invalid-payload';
      return {
        outcome: code,
        source: 'redrive',
        status: OUTCOMES[code].status,
        durationMs: 0,
        attempt: letter.attempt + 1,
        error: new WebhookError(code, isFailure ? letter.error : message),
      } satisfies Outcome;
    },
  };
}

/** Nobody holds the event: until it is redriven, its deliveries shall not run. */
async function markDead(store: Store, key: string | undefined): Promise<void> {
  if (key === undefined) return;
  const token = crypto.randomUUID();
  const claim = { key, token, webhookId: claimIdOf('redrive', token), replayUntil: Date.now() };
  const { status } = await store.admit({ ...claim, leaseMs: 60_000 });
  if (status === 'admitted') await store.complete(key, token, 'dead-lettered');
}
