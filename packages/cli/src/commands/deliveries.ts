import type { Delivery, DeliverySummary, DeliveryView } from '@call-webhooks/simulator';
import { type Command, Option } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { causeOf, describeResult, requireReached } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { wholeNumber } from '../input/options.ts';
import {
  answerText,
  attemptLines,
  createExplainer,
  localUrl,
  resultText,
} from '../simulator/attempt-lines.ts';
import {
  type Connection,
  findDelivery,
  simulatorOf,
  type SimulatorOptions,
  wasAttempted,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { changesOf, createUpdatePrinter, updatesOf } from '../simulator/updates.ts';
import { bodyLines, dateTime, duration, timeOfDay } from '../terminal/format.ts';
import { type Column, pairs, table } from '../terminal/table.ts';
import { type Colors, join, type Printable, t, type Text } from '../terminal/text.ts';

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
    .addCommand(listCommand(app), { isDefault: true })
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

const COLUMNS: readonly Column[] = [
  { title: 'id', cut: 'id' },
  { title: 'state' },
  { title: 'response', cut: 'end' },
  { title: 'receiver', cut: 'middle' },
  { title: 'event' },
  { title: 'attempts' },
  { title: 'created' },
  { title: 'rule' },
];

async function printTable({ output }: App, found: readonly DeliverySummary[]): Promise<void> {
  if (output.json) for (const delivery of found) await output.print(delivery);
  else if (found.length === 0)
    output.message('No deliveries found. To make some: call-webhooks trigger call');
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
          _id,
          paint(state),
          last ? answerText(colors, last) : '',
          localUrl(url),
          eventName,
          attempts.length,
          days.size > 1 ? dateTime(new Date(createdAt)) : timeOfDay(createdAt),
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
        ['deliveries tail --json | jq .attempt.response', 'For scripts'],
      ),
    )
    .action(
      app.action(async (options: SimulatorOptions) => {
        const { output } = app;
        const connection = simulatorOf(app, options);
        const updates = await updatesOf(connection);
        if (output.json) await output.print({ type: 'ready', url: connection.url });
        output.message(t`Watching ${connection.url}. Press Ctrl-C to stop.`);
        const printUpdate = createUpdatePrinter(output);
        for await (const update of updates) await printUpdate(update);
        return undefined;
      }),
    );
}

type AttemptView = DeliveryView['attempts'][number];

/** Everything about one delivery, in lines. */
function deliveryDetails(colors: Colors, delivery: DeliveryView, columns: number): Text[] {
  const { _id, eventName, state, ruleId, ruleName, actionId, callId, copyOf, copiedBy } = delivery;
  const names: [string, Printable][] = [
    ['delivery', _id],
    ['call', callId],
    ['rule', ruleName === undefined ? ruleId : `${ruleId} ${ruleName}`],
    ['action', actionId],
    ...(delivery.url === undefined ? [] : [['receiver', delivery.url] satisfies [string, string]]),
    ...(copyOf === undefined
      ? []
      : [['copy of', `${copyOf} (${copiedBy ?? ''})`] satisfies [string, string]]),
  ];
  return [
    t`${colors.bold(eventName)}  ${state}`,
    ...pairs(colors, names, columns),
    ...bodyLines(delivery.body).map((line) => t`  ${line}`),
    ...delivery.attempts.flatMap((attempt) => [t``, ...attemptDetails(colors, delivery, attempt)]),
  ];
}

function attemptDetails(colors: Colors, delivery: DeliveryView, attempt: AttemptView): Text[] {
  const { bold, cyan, dim, yellow } = colors;
  const { request, response = attempt.droppedResponse, chaos } = attempt;
  const parts = [
    bold(`attempt ${String(attempt.number)}`),
    dim(dateTime(new Date(attempt.startedAt))),
    answerText(colors, attempt),
    dim(duration(attempt.tookMs ?? 0)),
    resultText(colors, attempt, delivery),
  ];
  const cause = causeOf(attempt);
  return [
    join(parts, '  '),
    ...(cause
      ? [t`  ${cause.when}`, t`  ${dim('To fix it:')} call-webhooks explain ${cause.topic}`]
      : []),
    ...(chaos.length > 0 ? [t`  ${yellow(`chaos: ${chaos.join(', ')}`)}`] : []),
    t`  ${cyan('→')} POST ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => t`    ${dim(`${name}:`)} ${value}`),
    ...(request.body === delivery.body
      ? []
      : bodyLines(request.body).map((line) => t`    ${line}`)),
    ...(response?.kind === 'status'
      ? [
          t`  ${cyan('←')} ${response.status}`,
          ...bodyLines(response.body, 20).map((line) => t`    ${line}`),
        ]
      : []),
  ];
}

interface ResendOptions extends SimulatorOptions {
  readonly replay?: boolean;
  readonly insecure?: boolean;
}

/** Just above the service's 30 seconds, in milliseconds. */
const TIMEOUT_MS = 31_000;

/** `resend`: sends a delivery of the simulator again. */
export function resendCommand(app: App, base: Command): Command {
  const command = base
    .argument('<id>', 'the id of the delivery or the beginning of it')
    .option('--replay', 'send the last request byte for byte, as an attacker would')
    .option('-k, --insecure', 'with --replay: accept any TLS certificate of the receiver');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      `
The event is sent as a new delivery, with a new id, timestamp and signature. The
receiver must acknowledge it, as a duplicate. Exit code 1 if it does not.
With --replay, the last request is sent again as it was captured. The receiver
must refuse it: with 409, or with 401 once it is older than five minutes.
${examples(['resend 1f2e', 'Deliver the event again'], ['resend 1f2e --replay', 'Does the receiver reject a captured request?'])}`,
    )
    .action(app.action((id: string, options: ResendOptions) => resend(app, id, options)));
}

async function resend(app: App, id: string, options: ResendOptions): Promise<number> {
  const done = new AbortController();
  const connection = simulatorOf(app, options, AbortSignal.any([app.signal, done.signal]));
  try {
    const delivery = await findDelivery(connection, id);
    return await (options.replay
      ? sendCaptured(app, delivery, options.insecure)
      : deliverAgain(app, connection, delivery));
  } finally {
    done.abort();
  }
}

async function deliverAgain(
  { output }: App,
  connection: Connection,
  { _id }: DeliveryView,
): Promise<number> {
  const changes = await changesOf(connection);
  const { _id: copyId } = await connection.post<Delivery>(`/deliveries/${_id}/resend`);
  const readCopy = () => connection.get<DeliveryView>(`/deliveries/${copyId}`);
  let copy = await readCopy();
  if (!wasAttempted(copy))
    for await (const _ of changes) {
      copy = await readCopy();
      if (wasAttempted(copy)) break;
    }
  const attempt = copy.attempts.at(-1);
  await output.print(copy, (colors) =>
    attempt
      ? [
          ...attemptLines(colors, output.columns, copy, attempt),
          ...createExplainer()(colors, output.columns, attempt),
        ]
      : t`${copy.state}`,
  );
  return copy.state === 'acknowledged' ? EXIT.done : EXIT.receiverFailed;
}

async function sendCaptured(
  { output, signal }: App,
  delivery: DeliveryView,
  insecure: boolean | undefined,
): Promise<number> {
  const captured = delivery.attempts.at(-1)?.request;
  if (!captured)
    throw badInput('This delivery was never sent.', 'To send it now, leave out --replay.');
  const { url, headers } = captured;
  const request = { url, headers, body: Buffer.from(captured.body), timeout: TIMEOUT_MS, insecure };
  const result = requireReached(url, await post(request, signal));
  const refused = result.kind === 'status' && (result.status === 409 || result.status === 401);
  await output.print({ url, response: withoutBody(result), refused }, ({ green, red }) =>
    refused
      ? t`${green(describeResult(result))}  rejected, as it must be`
      : t`${red(describeResult(result))}  ${problemOf(result)}`,
  );
  return refused ? EXIT.done : EXIT.receiverFailed;
}

function problemOf(result: PostResult): string {
  if (result.kind === 'status' && result.status >= 200 && result.status < 300)
    return 'accepted: the receiver does not remember webhook ids, so anyone who captures a request can replay it';
  return 'neither accepted nor rejected with 409 or 401';
}

const withoutBody = (result: PostResult) =>
  result.kind === 'status' ? { kind: result.kind, status: result.status, ms: result.ms } : result;
