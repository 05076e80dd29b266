import type { DeliverySummary } from '@call-webhooks/simulator';
import { Option, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { wholeNumber } from '../../input/options.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type SimulatorOptions,
} from '../../simulator/connection.ts';
import { answerText, shortUrl } from '../../simulator/attempt-lines.ts';
import { findDelivery } from '../../simulator/deliveries.ts';
import { createUpdatePrinter } from '../../simulator/update-lines.ts';
import { updatesOf } from '../../simulator/updates.ts';
import { dateTime, timeOfDay } from '../../terminal/format.ts';
import { table, type Column } from '../../terminal/table.ts';
import { t, type Printable } from '../../terminal/text.ts';
import { deliveryDetails } from './details.ts';

interface ListOptions extends SimulatorOptions {
  readonly state?: string;
  readonly event?: string;
  readonly call?: string;
  readonly rule?: string;
  readonly limit: number;
}

const MAX_LIMIT = 1_000_000;
const STATES = ['waiting', 'in-flight', 'acknowledged', 'failed', 'dropped', 'held'];

/** `deliveries`: what the simulator sent. */
export function deliveriesCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app))
    .addCommand(showCommand(app))
    .addCommand(tailCommand(app))
    .addHelpText('after', examples(['deliveries list', 'The latest deliveries']));
}

function listCommand(app: App): Command {
  const command = app
    .command('list', 'List the latest deliveries, oldest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(STATES))
    .option('--event <name>', 'only of this event')
    .option('--call <id>', 'only of this call: its id or the beginning of it')
    .option('--rule <id>', 'only of this rule: its id or the beginning of it')
    .option('-n, --limit <number>', 'how many', wholeNumber('--limit', 1, MAX_LIMIT), 50);
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['deliveries list --state waiting', 'What will be retried'],
        ['deliveries list --call 4d0c --json', 'Everything about one call, for scripts'],
      ),
    )
    .action(
      app.action(async (options: ListOptions) => {
        const { state, event, call = '', rule = '', limit } = options;
        // Ids may be shortened, so they are compared here.
        const isShortened = call !== '' || rule !== '';
        // One more shows that there are more.
        const query = { state, eventName: event, limit: isShortened ? MAX_LIMIT : limit + 1 };
        const found = await simulatorOf(app, options).get<DeliverySummary[]>('/deliveries', query);
        const matching = found.filter(
          ({ callId, ruleId }) => callId.startsWith(call) && ruleId.startsWith(rule),
        );
        const latest = matching.slice(-limit);
        await printTable(app, latest);
        if (matching.length > latest.length)
          app.output.message(
            `These are the latest ${String(limit)}. For more: --limit ${String(limit * 10)}`,
          );
        return undefined;
      }),
    );
}

/** Commands take `3000/hook` for a URL of this machine. */
const THIS_MACHINE = /^(?:127\.0\.0\.1|localhost|\[::1\]):/;

const COLUMNS: readonly Column[] = [
  { title: 'created', drop: 2 },
  { title: 'id', cut: 'id' },
  { title: 'event', cut: 'middle', min: 17 },
  { title: 'state' },
  { title: 'response', cut: 'end', min: '401 signature-mismatch'.length },
  // With the others, this is 80 columns.
  { title: 'receiver', cut: 'middle', min: 13 },
  { title: 'attempts', drop: 3 },
  { title: 'rule', cut: 'end', drop: 4 },
];

async function printTable({ output }: App, found: readonly DeliverySummary[]): Promise<void> {
  if (output.json) for (const delivery of found) await output.print(delivery);
  else if (found.length === 0) output.message('No deliveries found.');
  else
    await output.print(found, (colors) => {
      const { green, red, yellow } = colors;
      const days = new Set(
        found.map(({ createdAt }) => dateTime(new Date(createdAt)).slice(0, 10)),
      );
      const rows = found.map((delivery): Printable[] => {
        const { _id, createdAt, eventName, state, attempts, url = '', ruleName = '' } = delivery;
        const last = attempts.at(-1);
        const paint = state === 'acknowledged' ? green : state === 'failed' ? red : yellow;
        return [
          days.size > 1 ? dateTime(new Date(createdAt)) : timeOfDay(createdAt),
          _id,
          eventName,
          paint(state),
          last ? answerText(colors, last) : '',
          shortUrl(url).replace(THIS_MACHINE, ''),
          attempts.length,
          ruleName,
        ];
      });
      return table(colors, COLUMNS, rows, output.columns);
    });
}

function showCommand(app: App): Command {
  const command = app
    .command('show', 'Show one delivery: every request and response')
    .argument('<id>', 'its id or the beginning of it');
  return withSimulatorOption(command)
    .addHelpText('after', examples(['deliveries show 1f2e', 'The delivery whose id starts so']))
    .action(
      app.action(async (id: string, options: SimulatorOptions) => {
        const delivery = await findDelivery(simulatorOf(app, options), id);
        await app.output.print(delivery, (colors) =>
          deliveryDetails(colors, delivery, app.output.columns),
        );
        return undefined;
      }),
    );
}

function tailCommand(app: App): Command {
  return withSimulatorOption(app.command('tail', 'Print attempts and paused rules as they happen'))
    .addHelpText(
      'after',
      examples(
        ['deliveries tail', 'Watch the attempts'],
        ["deliveries tail --json | jq -r '.attempt.response.status'", 'For scripts'],
      ),
    )
    .action(
      app.action(async (options: SimulatorOptions) => {
        const { output } = app;
        const connection = simulatorOf(app, options);
        const updates = await updatesOf(connection);
        output.message(t`Watching ${connection.url}. Press Ctrl-C to stop.`);
        const printUpdate = createUpdatePrinter(output);
        for await (const update of updates) await printUpdate(update);
        return undefined;
      }),
    );
}
