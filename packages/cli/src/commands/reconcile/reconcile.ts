import { WebhookError } from '@call-webhooks/core';
import { reconcile } from '@call-webhooks/recovery';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput, EXIT } from '../../errors.ts';
import { durationOption, repeatable, wholeNumber } from '../../input/options.ts';
import { fieldNames, TIME_FIELDS } from '../../input/field-names.ts';
import { time } from '../../input/time.ts';
import { targetOf, withTargetOptions, type TargetOptions } from '../../receiver/target.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../../service/client.ts';
import { dateTime } from '../../terminal/format.ts';
import { httpReceiver, noReceiver } from './http-receiver.ts';
import { Report } from './report.ts';
import { REMEMBER_MS, windowOf, type Window, type WindowOptions } from './window.ts';

interface Options extends ServiceOptions, TargetOptions, WindowOptions {
  readonly to?: string;
  readonly dryRun?: boolean;
  readonly fieldName?: readonly string[];
  readonly recordings?: boolean;
  readonly concurrency: number;
}

/** `reconcile`: sends the events that never came. */
export function reconcileCommand(app: App, base: Command): Command {
  const command = base
    .requiredOption(
      '--since <time>',
      'calls that began then or later: 12h (ago), 2026-01-31T12:00Z',
      time,
    )
    .option(
      '--until <time>',
      'and before then (default: 10m ago, because newer webhooks may still come)',
      time,
    )
    .option('--to <url>', 'the URL of the running receiver')
    .option(
      '--dry-run',
      'only list the events that would be sent, including those that the receiver knows',
    )
    .addOption(
      durationOption(
        '--remember-for <duration>',
        "the rememberFor of the receiver's store, which no window may exceed",
        REMEMBER_MS,
      ),
    )
    .option('--recordings', 'also ask for the recording of each call, and send its event')
    .option(
      '--field-name <name=field>',
      'where call records have createdAt, dialedAt, endedAt; repeatable',
      repeatable,
    )
    .option('--concurrency <number>', 'how many at once', wholeNumber('--concurrency', 1, 100), 4);
  return withTargetOptions(withServiceOptions(command))
    .addHelpText(
      'after',
      `
Lists the service's calls, and sends call:completed for each that has ended,
with its callId alone. The receiver knows which events it has handled, and runs
the others. A webhook that comes later is a duplicate. Ctrl-C waits for the
events that are being sent; run the command again to go on.

The window must not be longer than the receiver's store remembers: older events
would run again. With a memory store, begin after the start of the process.
Exit code 1 if any event failed.
${examples(
  ['reconcile --since 12h --to 3000/hook --dry-run', 'What would be sent'],
  ['reconcile --since 12h --to 3000/hook', 'Send it'],
  ['reconcile --since 1h --until 0s --to 3000/hook', 'Calls of the running simulator'],
  [
    'reconcile --since 12h --allow-external \\\n      --to https://example.com/hook',
    'To a receiver on another machine',
  ],
)}`,
    )
    .action(app.action((options: Options) => run(app, options)));
}

async function run(app: App, options: Options): Promise<number> {
  const { to, dryRun = false, rememberFor, recordings, concurrency } = options;
  if (to === undefined && !dryRun)
    throw badInput('Which receiver?', 'Pass --to URL, or --dry-run to send nothing.');
  const window = windowOf(options, Date.now());
  const names = fieldNames(TIME_FIELDS, options.fieldName);
  const client = await serviceClient(app, options);
  const target = to === undefined || dryRun ? undefined : await targetOf(app, to, options);
  const report = new Report(app, dryRun);
  try {
    const result = await reconcile({
      ...{ client, ...window, fieldNames: names, recordings, concurrency, signal: app.signal },
      receiver: target ? httpReceiver(target) : noReceiver,
      store: { rememberFor },
      onEvent: report.onEvent,
      onProgress: report.onProgress,
    });
    await report.end();
    await report.print(result);
    if (result.seen === 0) tellWindow(app, options, window);
    return result.failed > 0 ? EXIT.receiverFailed : EXIT.done;
  } catch (error) {
    await report.end();
    if (!dryRun && report.result) {
      await report.print(report.result);
      tellHowToGoOn(app, window);
    }
    if (error instanceof WebhookError && error.message.includes('fieldNames'))
      throw badInput(
        error.message,
        'Pass --field-name createdAt=FIELD. To see the fields: call-webhooks calls',
      );
    throw error;
  }
}

function tellWindow({ output }: App, options: Options, { since, until }: Window): void {
  output.message(`No call began from ${dateTime(since)} to ${dateTime(until)}.`);
  if (options.until === undefined)
    output.message('Calls of the last 10 minutes are left out. With --until 0s they are not.');
}

/** With times, since a duration would begin later. */
function tellHowToGoOn({ output }: App, { since, until }: Window): void {
  output.message('The run did not finish. The receiver remembers what it has handled.');
  output.message('To go on, run the command again with these times:');
  output.message(`  --since ${since.toISOString()} --until ${until.toISOString()}`);
}
