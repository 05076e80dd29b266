import { Option, type Command } from 'commander';
import { examples, type App } from '../app.ts';
import { wholeNumber } from '../input/numbers.ts';
import { simulatorUrl, withSimulatorOption } from '../simulator/address.ts';
import { happenings } from '../simulator/attempts.ts';
import { connect } from '../simulator/connection.ts';
import { deliveryDetails } from '../simulator/delivery-details.ts';
import { findDelivery } from '../simulator/find-delivery.ts';
import { answerText, happeningLine, happeningRecord } from '../simulator/delivery-lines.ts';
import type { Delivery, DeliverySummary } from '../simulator/views.ts';
import { table } from '../terminal/table.ts';
import { t, type Shown } from '../terminal/text.ts';
import { timeOfDay } from '../terminal/time.ts';

interface Options {
  readonly simulator?: string;
}
interface ListOptions extends Options {
  readonly state?: string;
  readonly event?: string;
  readonly call?: string;
  readonly rule?: string;
  readonly limit: number;
}

export function deliveries(app: App): Command {
  return app
    .command('deliveries', 'What the simulator sent, and what was answered')
    .addCommand(list(app))
    .addCommand(show(app))
    .addCommand(tail(app))
    .addHelpText('after', examples(['deliveries list', 'What was sent last']));
}

const connected = ({ io, signal }: App, { simulator }: Options) =>
  connect(simulatorUrl(io, simulator), signal);

function list(app: App): Command {
  const command = app
    .command('list', 'The latest deliveries, the oldest first')
    .addOption(
      new Option('--state <state>', 'of this state').choices([
        'waiting',
        'in-flight',
        'acknowledged',
        'failed',
        'dropped',
        'held',
      ]),
    )
    .option('--event <name>', 'of one event')
    .option('--call <id>', 'of one call')
    .option('--rule <id>', 'of one rule')
    .option('-n, --limit <number>', 'how many at most', wholeNumber('--limit', 1, 1_000_000), 50);
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['deliveries list --state waiting', 'What is going to be retried'],
        ['deliveries list --call 4d0c… --json', 'Everything about one call, for scripts'],
      ),
    )
    .action(
      app.run(async (options: ListOptions) => {
        const { state, event, call, rule, limit } = options;
        const query = { state, eventName: event, callId: call, ruleId: rule, limit };
        const found = await connected(app, options).get<DeliverySummary[]>('/deliveries', query);
        await showAll(app, found);
        return undefined;
      }),
    );
}

async function showAll({ output }: App, found: readonly DeliverySummary[]): Promise<void> {
  if (output.json) for (const delivery of found) await output.show(delivery, () => []);
  else if (found.length === 0) output.say('There are no such deliveries.');
  else
    await output.show(found, (ink) => {
      const rows = found.map((delivery): Shown[] => {
        const { _id, createdAt, eventName, state, attempts } = delivery;
        const last = attempts.at(-1);
        const paint =
          state === 'acknowledged' ? ink.green : state === 'failed' ? ink.red : ink.yellow;
        const answer = last ? answerText(ink, last) : '';
        return [timeOfDay(createdAt), _id, eventName, paint(state), attempts.length, answer];
      });
      return table(ink, ['created', 'id', 'event', 'state', 'attempts', 'answer'], rows);
    });
}

function show(app: App): Command {
  const command = app
    .command('show', 'One delivery with every attempt: headers, bodies, answers')
    .argument('<id>', 'its id, or the beginning of it');
  return withSimulatorOption(command)
    .addHelpText('after', examples(['deliveries show 1f2e', 'The delivery whose id begins so']))
    .action(
      app.run(async (id: string, options: Options) => {
        const delivery: Delivery = await findDelivery(connected(app, options), id);
        await app.output.show(delivery, (ink) => deliveryDetails(ink, delivery));
        return undefined;
      }),
    );
}

function tail(app: App): Command {
  return withSimulatorOption(app.command('tail', 'Every attempt as it ends, and rules that pause'))
    .addHelpText(
      'after',
      examples(
        ['deliveries tail', 'Look on'],
        ["deliveries tail --json | jq -r '.attempt.answer.status'", 'For scripts'],
      ),
    )
    .action(
      app.run(async (options: Options) => {
        const connection = connected(app, options);
        const seen = await happenings(connection);
        app.output.say(t`Watching ${connection.url}. Ctrl-C ends it.`);
        for await (const happening of seen)
          await app.output.show(happeningRecord(happening), (ink) => happeningLine(ink, happening));
        return undefined;
      }),
    );
}
