import { eventKey, WebhookError } from '@call-webhooks/core';
import { newWebhookId, tenantKey, withRedactedIds } from '@call-webhooks/core/internal';
import {
  reconcile,
  type ReconciledEvent,
  type ReconcileOptions,
  type ReconcileReceiver,
  type ReconcileResult,
  SETTLE_FOR_MS,
} from '@call-webhooks/recovery';
import {
  explainMissed,
  knowsNothing,
  type MissedAt,
  type MissReason,
  missReasonText,
} from '@call-webhooks/recovery/internal';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { timeFieldNames } from '../input/fields.ts';
import { repeatable, wholeNumber } from '../input/options.ts';
import {
  endingOf,
  postSigned,
  type Target,
  targetOf,
  type TargetOptions,
  withTargetOptions,
} from '../input/target.ts';
import { ANY_DURATION, durationOption, time } from '../input/time.ts';
import { serviceClient, type ServiceOptions, withServiceOptions } from '../service/client.ts';
import {
  isStoreGiven,
  type StoreOptions,
  withStore,
  withStoreOptions,
} from '../store/open-store.ts';
import { countGone } from '../store/letters.ts';
import { plainText } from '../store/status.ts';
import { checkTenant, type TenantWords } from '../store/tenants.ts';
import type { Output } from '../terminal/output.ts';
import { counted, dateTime, duration } from '../terminal/format.ts';
import { showProgress } from '../terminal/prompts.ts';
import { paragraph } from '../terminal/table.ts';
import { t } from '../terminal/text.ts';
import { keepCovered } from './keep-covered.ts';

interface Options extends ServiceOptions, TargetOptions, WindowOptions, StoreOptions {
  readonly to?: string;
  readonly dryRun?: boolean;
  readonly tenant?: string;
  readonly fieldName?: readonly string[];
  readonly recordings?: boolean;
  readonly concurrency: number;
}

/** `reconcile`: sends the events that never arrived. */
export function reconcileCommand(app: App, base: Command): Command {
  const command = base
    .requiredOption(
      '--since <time>',
      'only calls that began then or later: 12h (ago), 2026-01-31T12:00Z',
      time,
    )
    .option(
      '--until <time>',
      'only calls that began earlier (default: 10m ago, because newer webhooks may still arrive)',
      time,
    )
    .option(
      '--to <url>',
      'the URL of the running receiver; 3000/hook means http://127.0.0.1:3000/hook',
    )
    .option('--dry-run', 'send nothing, and list what was missed; needs --store')
    .option(
      '--tenant <name>',
      'the tenant that these calls belong to, for what --store knows of them',
    )
    .addOption(
      durationOption(
        '--remember-for <duration>',
        "the rememberFor option of the receiver's store; the window must not be longer",
        REMEMBER_MS,
        ANY_DURATION,
      ),
    )
    .option('--recordings', 'also ask for the recording of each call, and send its event')
    .option(
      '--field-name <name=field>',
      'the name that call records use for createdAt, dialedAt or endedAt; repeatable',
      repeatable,
    )
    .option(
      '--concurrency <number>',
      'the number of requests at the same time',
      wholeNumber('--concurrency', 1, 100),
      4,
    );
  return withTargetOptions(withServiceOptions(withStoreOptions(command)))
    .addHelpText(
      'after',
      `
Lists the calls in the service, and sends call:completed with the callId for
each call that has ended. The receiver handles the events that it has not
handled before. A webhook that arrives later is a duplicate. Ctrl-C waits for
the requests in progress; run the command again to continue.

The window must not be longer than the receiver's store remembers events:
otherwise, older events would run again. A memory store remembers only the
events since its process started.

If the store's outcome log shows it, a dry run also says why events were missed:
for example because their rule was paused, or because individual deliveries were
lost.

If you also name the store with --store, and its --prefix if it has one, the run
is recorded there, and status no longer asks you to run reconcile for this time.

If the receiver has tenants, pass --tenant to a dry run, and to a run that is to
be recorded. Without --dry-run, the URL and the secret decide which tenant the
calls belong to, whatever --tenant says: no response tells whose they are. With
those of another tenant, its handlers run these events, as its own.

Exit code 1 if an event failed, or if a dry run found missed events.
${examples(
  ['reconcile --since 12h --dry-run --store sqlite:calls.db', 'List the missed events'],
  ['reconcile --since 12h --dry-run --tenant acme', 'List the missed events of one tenant'],
  ['reconcile --since 12h --to 3000/hook', 'Send the missed events'],
  ['reconcile --since 1h --until 0s --to 3000/hook', 'Use the calls of the running simulator'],
  [
    'reconcile --since 12h --allow-external \\\n      --to https://example.com/hook',
    'Send to a receiver on another machine',
  ],
)}`,
    )
    .action(app.action((options: Options) => run(app, options)));
}

async function run(app: App, options: Options): Promise<number> {
  const { to, dryRun = false, rememberFor, recordings, concurrency } = options;
  const { output, signal } = app;
  if (to === undefined && !dryRun)
    throw badInput('No receiver is given.', 'Pass --to URL, or --dry-run to send nothing.');
  if (options.tenant !== undefined && !dryRun && !isStoreGiven(app, options))
    throw badInput(
      '--tenant is only for --dry-run, or to record the run in the store.',
      'Remove it, or pass --store URL: the URL of --to and the secret decide which tenant the calls belong to.',
    );
  const window = windowOf(options, Date.now());
  const names = timeFieldNames(options.fieldName);
  const client = await serviceClient(app, options);
  const bar = showProgress(app.io, (seen) => counted(seen, 'call'));
  let printing = Promise.resolve();
  let soFar: ReconcileResult | undefined;
  const request = {
    client,
    ...window,
    fieldNames: names,
    recordings,
    concurrency,
    signal,
    onEvent: (event: ReconciledEvent) => {
      printing = printing.then(() => {
        bar.clear();
        return printEvent(output, event, dryRun);
      });
    },
    onProgress: (result: ReconcileResult) => {
      soFar = result;
      bar.update(result.seen, undefined);
    },
  };
  const end = async (
    result: ReconcileResult | undefined,
    { reasons = [], lettersGone = 0 }: Partial<LookedUp> = {},
  ) => {
    await printing;
    bar.clear();
    for (const reason of reasons) await printReason(output, reason, options.tenant);
    if (result) await printResult(output, result, { dryRun, lettersGone });
  };
  try {
    const target = to === undefined || dryRun ? undefined : await targetOf(app, to, options);
    const found: LookedUp = target
      ? await reconcile({ ...request, store: { rememberFor }, receiver: httpReceiver(target) })
      : await lookUp(app, options, request, (doubt) => {
          output.warn(doubt);
        });
    const { reasons, lettersGone, ...result } = found;
    await end(result, { reasons, lettersGone });
    if (target) await keepCovered(app, options, window, result);
    if (result.seen === 0) {
      output.message(`No call began from ${dateTime(window.since)} to ${dateTime(window.until)}.`);
      if (options.until === undefined)
        output.message(
          'Calls that began in the last 10 minutes are left out. To include them: --until 0s',
        );
    }
    const missed = dryRun ? result.missed : 0;
    return result.failed + missed > 0 ? EXIT.attention : EXIT.done;
  } catch (error) {
    await end(dryRun ? undefined : soFar);
    if (soFar && !dryRun) tellHowToGoOn(output, window);
    if (error instanceof WebhookError && error.message.includes('fieldNames'))
      throw badInput(
        error.message,
        'Pass --field-name createdAt=FIELD. To see the fields: npx call-webhooks calls',
      );
    throw error;
  }
}

/** What a dry run is told about tenants. */
interface LookUpOptions extends StoreOptions, Pick<WindowOptions, 'rememberFor'> {
  readonly tenant?: string | undefined;
}

/** What a dry run found, and why. */
interface LookedUp extends ReconcileResult {
  /** How many events that the store knows as dead letters have none there any more; they are `known`. */
  readonly lettersGone?: number | undefined;
  /** Absent if nothing was missed, or the store has no log. */
  readonly reasons?: readonly MissReason[] | undefined;
}

/**
 * Tells which events were missed, and why, by what the receiver's store knows. Changes nothing.
 * @param onDoubt called with what makes the result doubtful
 * @throws CliError 2 without a tenant, if the receiver has tenants
 */
export const lookUp = (
  app: App,
  options: LookUpOptions,
  request: Omit<ReconcileOptions, 'receiver' | 'store' | 'dryRun' | 'tenant'>,
  onDoubt: (doubt: string) => void,
  words?: TenantWords,
): Promise<LookedUp> =>
  withStore(
    app,
    options,
    async (opened) => {
      const { tenant, rememberFor } = options;
      const doubt = await checkTenant(opened, tenant, words);
      if (doubt !== undefined) onDoubt(doubt);
      const receiver: ReconcileReceiver = {
        deliver: () => Promise.resolve({ outcome: 'ignored' }), // it is never asked
      };
      const store = { ...opened.store, rememberFor };
      const missed: MissedAt[] = [];
      const deadLettered: string[] = [];
      const onEvent = (event: ReconciledEvent) => {
        const { eventName } = event.event;
        const key = tenantKey(tenant, eventKey(event.event) ?? '');
        if (event.state === 'dead-lettered') deadLettered.push(key);
        if (event.missed) missed.push({ at: event.at.getTime(), eventName, key });
        return request.onEvent?.(event);
      };
      const found = await reconcile({
        ...request,
        onEvent,
        tenant,
        receiver,
        store,
        dryRun: true,
      });
      const lettersGone = await countGone(opened.deadLetters, deadLettered);
      // The store knows these events, and nothing runs them any more.
      const result = {
        ...found,
        inDeadLetters: found.inDeadLetters - lettersGone,
        known: found.known + lettersGone,
        lettersGone,
      };
      if (doubt === undefined && knowsNothing(result)) onDoubt(NOTHING_KNOWN);
      const { log } = opened.store;
      if (!log || missed.length === 0) return result;
      const reasonOf = await explainMissed(log, missed, {
        ...{ tenant, now: Date.now() },
        store: opened.store,
      });
      missed.sort((one, other) => one.at - other.at);
      return { ...result, reasons: [...new Set(missed.map(reasonOf))] };
    },
    true,
  );

const NOTHING_KNOWN =
  'The store knows none of these events. That is to be expected if a rule was paused all the time. If not, check that it is the store of the receiver, that the API token lists the calls of this receiver, and that the tenant is right: otherwise, every event looks missed.';

/** With `--json`, every event; else those that are missed, or failed. */
async function printEvent(
  output: Output,
  { outcome, state, missed, ...event }: ReconciledEvent,
  dryRun: boolean,
): Promise<void> {
  const { callId, eventName } = withRedactedIds({ ...event.event, callId: event.callId });
  if (output.json) await output.print({ type: 'event', eventName, callId, outcome, state, missed });
  else if (dryRun && missed) await output.print(undefined, () => t`${eventName}  ${callId}`);
  else if (missed && outcome !== 'handled' && outcome !== 'queued')
    output.message(t`${callId}  ${eventName}  failed: ${outcome ?? ''}`);
}

/** Why events were missed. */
async function printReason(
  output: Output,
  reason: MissReason,
  tenant: string | undefined,
): Promise<void> {
  const at = (time: number) => dateTime(new Date(time));
  const text = plainText(missReasonText(reason, { tenant, at }));
  await output.print({ type: 'reason', ...reason, text }, ({ bold }) => [
    t``,
    ...paragraph(t`${bold(counted(reason.missed, 'event'))}: ${text}`, output.columns),
  ]);
}

async function printResult(
  output: Output,
  { stoppedEarly: _never, ...result }: ReconcileResult,
  { dryRun, lettersGone }: { dryRun: boolean; lettersGone: number },
): Promise<void> {
  const { seen, missed, handled, known, inDeadLetters, failed, ignored, skipped } = result;
  const gone = lettersGone > 0 && { lettersGone };
  await output.print({ type: 'result', dryRun, ...result, ...gone }, ({ bold }) => {
    const ran = dryRun ? '' : `${String(handled)} handled, `;
    const dead = inDeadLetters > 0 ? `, ${String(inDeadLetters)} in the dead letters` : '';
    const unhandled = ignored > 0 ? `, ${String(ignored)} without a handler` : '';
    const others = skipped > 0 ? `, ${String(skipped)} skipped` : '';
    return t`${counted(seen, 'call')}: ${bold(missed)} ${missed === 1 ? 'event' : 'events'} missed, ${ran}${known} known, ${failed} failed${dead}${unhandled}${others}`;
  });
  if (inDeadLetters > 0)
    output.message('To run the events in the dead letters: npx call-webhooks dead-letters redrive');
  if (lettersGone > 0) output.message(goneText(lettersGone));
}

const goneText = (count: number) =>
  `${counted(count, 'known event')} became ${count === 1 ? 'a dead letter that does' : 'dead letters that do'} not wait in this store: ${count === 1 ? 'it was' : 'they were'} removed or erased, or the receiver keeps its dead letters in another store.`;

/** With times, since a duration would begin later. */
function tellHowToGoOn(output: Output, { since, until }: Window): void {
  output.message('The run did not finish. The receiver remembers the events that it has handled.');
  output.message('To continue, run the command again with these times:');
  output.message(`  --since ${since.toISOString()} --until ${until.toISOString()}`);
}

/** How long stores remember handled events by default; milliseconds. */
export const REMEMBER_MS = 86_400_000;
/** So much longer may a window be, as for `reconcile`; milliseconds. */
const SLACK_MS = 60_000;
/** Less than this passes between the reading of `--since` and its check, so that `30h` is no more than that; milliseconds. */
const PARSING_MS = 1_000;

/** Which calls are looked at. */
export interface WindowOptions {
  readonly since: Date;
  readonly until?: Date;
  /** Milliseconds. */
  readonly rememberFor: number;
}

export interface Window {
  readonly since: Date;
  readonly until: Date;
}

/**
 * The window of the flags. The store is not asked how long it remembers, so the flag says it.
 * @throws CliError 2 for a window that is empty, or longer than the store remembers
 */
export function windowOf({ since, until, rememberFor }: WindowOptions, now: number): Window {
  const end = until ?? new Date(now - SETTLE_FOR_MS);
  if (since >= end)
    throw badInput(
      '--since has to be before --until.',
      until ? 'Give a longer window.' : 'Without --until, the window ends 10 minutes ago.',
    );
  const asked = now - since.getTime();
  if (asked > rememberFor + SLACK_MS)
    throw badInput(
      `--since is ${duration(asked)} ago, but the receiver's store is assumed to remember handled events for ${duration(rememberFor)}. Older ones would look missed and run again.`,
      `Begin later. If the store remembered longer when these calls were handled, pass its rememberFor: --remember-for ${String(Math.ceil((asked - PARSING_MS) / 3_600_000))}h.`,
    );
  return { since, until: end };
}

/**
 * A running receiver, as `reconcile` uses one. It gets each event as a signed webhook, and knows by its
 * own store which of them it has handled.
 */
function httpReceiver(target: Target): ReconcileReceiver {
  return {
    async deliver(event) {
      const body = Buffer.from(JSON.stringify(event));
      const answer = await postSigned(body, target, newWebhookId('reconcile'));
      const { code, message } = endingOf(answer, target, 'Nothing was lost: run it again.');
      return { outcome: code, error: new WebhookError(code, message) };
    },
  };
}
