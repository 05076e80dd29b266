import type { WebhookEvent, WebhookEventSummary, WebhookEventView } from '@call-webhooks/simulator';
import { type Command, Option } from 'commander';
import { type App, examples } from '../app.ts';
import { EXIT } from '../errors.ts';
import { attemptFailure } from '../http/effects.ts';
import { wholeNumber } from '../input/options.ts';
import { answerText, attemptWriter, localUrl, resultText } from '../simulator/attempt-lines.ts';
import {
  findEvent,
  simulatorOf,
  type SimulatorOptions,
  wasAttempted,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { changesOf, createUpdatePrinter, readUntil, updatesOf } from '../simulator/updates.ts';
import { bodyLines, dateTime, duration } from '../terminal/format.ts';
import { type Column, pairs } from '../terminal/table.ts';
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

/** `events`: what the simulator sent. */
export function simulatorEventsCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app), { isDefault: true })
    .addCommand(
      withSimulatorOption(app.command('show', 'Show one event: every request and response'))
        .argument('<id>', 'its id, or the first characters of it')
        .action(app.action((id: string, options: SimulatorOptions) => show(app, id, options))),
    )
    .addCommand(
      withSimulatorOption(
        app.command('tail', 'Print attempts and paused rules as they happen'),
      ).action(app.action((options: SimulatorOptions) => tail(app, options))),
    )
    .addHelpText(
      'afterAll',
      examples(
        ['events list --state waiting', 'See what will be retried'],
        ['events list --call 4d0c --json', 'Print everything about one call, for scripts'],
        ['events show 1f2e', 'Show the event whose id begins with 1f2e'],
        ['events tail --json | jq .attempt.response', 'Watch the attempts'],
      ),
    );
}

function listCommand(app: App): Command {
  return withSimulatorOption(app.command('list', 'List the latest events, oldest first'))
    .addOption(new Option('--state <state>', 'only events in this state').choices(STATES))
    .option('--event <name>', 'only events with this name')
    .option('--call <id>', 'only events of this call: its id, or the first characters of it')
    .option('--rule <id>', 'only events of this rule: its id, or the first characters of it')
    .option(
      '-n, --limit <number>',
      'the maximum number of events',
      wholeNumber('--limit', 1, MAX_LIMIT),
      50,
    )
    .action(app.action((options: ListOptions) => list(app, options)));
}

async function list(app: App, options: ListOptions): Promise<undefined> {
  const { output } = app;
  const { state, event: eventName, call = '', rule = '', limit } = options;
  const query = { state, eventName, limit: MAX_LIMIT };
  const found = await simulatorOf(app, options).get<WebhookEventSummary[]>('/events', query);
  // Ids may be shortened, so they are compared here.
  const matching = found.filter(
    ({ callId, ruleId }) => callId.startsWith(call) && ruleId.startsWith(rule),
  );
  const latest = matching.slice(-limit);
  if (output.json) for (const event of latest) await output.print(event);
  else if (latest.length === 0)
    output.message('No events found. To create some: npx call-webhooks trigger call');
  else
    await output.printTable(latest, COLUMNS, (colors) =>
      latest.map((event) => cellsOf(colors, event)),
    );
  if (matching.length > latest.length)
    output.message(
      `These are the latest ${String(limit)}. For more: --limit ${String(limit * 10)}`,
    );
  return undefined;
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

function cellsOf(colors: Colors, event: WebhookEventSummary): Printable[] {
  const { _id, createdAt, eventName, state, attempts, url = '', ruleName = '' } = event;
  const { green, red, yellow } = colors;
  const last = attempts.at(-1);
  const paint = state === 'acknowledged' ? green : state === 'failed' ? red : yellow;
  return [
    _id,
    paint(state),
    last ? answerText(colors, last) : '',
    localUrl(url),
    eventName,
    attempts.length,
    dateTime(new Date(createdAt)),
    ruleName,
  ];
}

async function show(app: App, id: string, options: SimulatorOptions): Promise<undefined> {
  const event = await findEvent(simulatorOf(app, options), id);
  await app.output.print(event, (colors) => detailLines(colors, event, app.output.columns));
  return undefined;
}

/** Everything about one event. */
function detailLines(colors: Colors, event: WebhookEventView, columns: number): Text[] {
  const { _id, eventName, state, callId, ruleId, ruleName = '', actionId, url } = event;
  const { copyOf, copiedBy = '' } = event;
  const known: [string, string | undefined][] = [
    ['event', _id],
    ['call', callId],
    ['rule', `${ruleId} ${ruleName}`],
    ['action', actionId],
    ['receiver', url],
    ['copy of', copyOf && `${copyOf} (${copiedBy})`],
  ];
  const given = known.filter((pair): pair is [string, string] => pair[1] !== undefined);
  return [
    t`${colors.bold(eventName)}  ${state}`,
    ...pairs(colors, given, columns),
    ...bodyLines(event.body).map((line) => t`  ${line}`),
    ...event.attempts.flatMap((attempt) => [t``, ...attemptDetails(colors, event, attempt)]),
  ];
}

function attemptDetails(
  colors: Colors,
  event: WebhookEventView,
  attempt: WebhookEventView['attempts'][number],
): Text[] {
  const { bold, cyan, dim, yellow } = colors;
  const { number, startedAt, tookMs = 0, request, chaos } = attempt;
  const response = attempt.droppedResponse ?? attempt.response;
  const cause = attemptFailure(attempt);
  const lines = [
    join(
      [
        bold(`attempt ${String(number)}`),
        dim(dateTime(new Date(startedAt))),
        answerText(colors, attempt),
        dim(duration(tookMs)),
        resultText(colors, attempt, event),
      ],
      '  ',
    ),
  ];
  if (cause)
    lines.push(
      t`  ${cause.when}`,
      t`  ${dim('To fix it:')} npx call-webhooks explain ${cause.topic}`,
    );
  if (chaos.length > 0) lines.push(t`  ${yellow(`chaos: ${chaos.join(', ')}`)}`);
  lines.push(t`  ${cyan('→')} POST ${request.url}`);
  for (const [name, value] of Object.entries(request.headers))
    lines.push(t`    ${dim(`${name}:`)} ${value}`);
  if (request.body !== event.body)
    lines.push(...bodyLines(request.body).map((line) => t`    ${line}`));
  if (response?.kind === 'status')
    lines.push(
      t`  ${cyan('←')} ${response.status}`,
      ...bodyLines(response.body, 20).map((line) => t`    ${line}`),
    );
  return lines;
}

async function tail(app: App, options: SimulatorOptions): Promise<undefined> {
  const { output } = app;
  const connection = simulatorOf(app, options);
  const updates = await updatesOf(connection);
  if (output.json) await output.print({ type: 'ready', url: connection.url });
  output.message(t`Watching ${connection.url}. Press Ctrl-C to stop.`);
  const printUpdate = createUpdatePrinter(output);
  for await (const update of updates) await printUpdate(update);
  return undefined;
}

/** `resend`: sends an event of the simulator again. */
export function resendCommand(app: App, base: Command): Command {
  return withSimulatorOption(base)
    .argument('<id>', 'the id of the event, or the first characters of it')
    .addHelpText(
      'after',
      `
The event is delivered once more, with a new webhook id, timestamp and
signature. The receiver must acknowledge it as a duplicate. Exit code 1 if it
does not.
${examples(['resend 1f2e', 'Deliver the event again'])}`,
    )
    .action(app.action((id: string, options: SimulatorOptions) => resend(app, id, options)));
}

async function resend(app: App, id: string, options: SimulatorOptions): Promise<number> {
  const { output, signal } = app;
  const done = new AbortController();
  const connection = simulatorOf(app, options, AbortSignal.any([signal, done.signal]));
  try {
    const { _id } = await findEvent(connection, id);
    const changes = await changesOf(connection);
    const { _id: copyId } = await connection.post<WebhookEvent>(`/events/${_id}/resend`);
    const copy = await readUntil(connection, changes, async () => {
      const read = await connection.get<WebhookEventView>(`/events/${copyId}`);
      return wasAttempted(read) ? read : undefined;
    });
    const attempt = copy.attempts.at(-1);
    await output.print(copy, (colors) =>
      attempt ? attemptWriter(output.columns)(colors, copy, attempt) : t`${copy.state}`,
    );
    return copy.state === 'acknowledged' ? EXIT.done : EXIT.attention;
  } finally {
    done.abort();
  }
}
