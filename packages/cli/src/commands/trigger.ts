import type {
  Call,
  ChaosSettings,
  ClockView,
  WebhookEventSummary,
  Rule,
} from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, CliError, EXIT } from '../errors.ts';
import { callFieldNames, setFields, withFieldNameOption } from '../input/fields.ts';
import { didYouMean, repeatable, wholeNumber } from '../input/options.ts';
import { durationOption } from '../input/time.ts';
import { attemptWriter, unsentLine } from '../simulator/attempt-lines.ts';
import {
  type Connection,
  isFinished,
  simulatorOf,
  type SimulatorOptions,
  wasAttempted,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { changesOf, readUntil } from '../simulator/updates.ts';
import { pairs, shortId } from '../terminal/table.ts';
import { t } from '../terminal/text.ts';

/** What a scenario works with. */
interface Stage {
  readonly connection: Connection;
  /** The fields from `--set`: of a call, or of a message. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly clock: ClockView;
}

interface Scenario {
  readonly what: string;
  /** How many times without `--count`; once by default. */
  readonly count?: number;
  /** Plays the scenario once. @returns the call, if there is one */
  readonly play: (stage: Stage) => Promise<Call | undefined>;
  /** What is left to do when all were played. */
  readonly end?: (stage: Stage, calls: readonly Call[]) => Promise<void>;
}

/** How long a call lasts, unless `--set durationSeconds=…` is given: nobody wants to wait. */
const CALL_SECONDS = 1;

const startCall = ({ connection, fields }: Stage) =>
  connection.post<Call>('/calls/start', { recorded: false, ...fields });
const endCall = ({ connection }: Stage, { _id }: Call) =>
  connection.post<Call>(`/calls/${_id}/end`);
const placeCall = ({ connection, fields }: Stage, more: object = {}) =>
  connection.post<Call>('/calls', { durationSeconds: CALL_SECONDS, ...more, ...fields });

/** Places a call, and lets it end. */
async function wholeCall(stage: Stage, more?: object): Promise<Call> {
  const call = await placeCall(stage, more);
  await endCalls(stage, [call]);
  return call;
}

/** Advances a manual clock as far as these calls need, which have begun now. */
async function endCalls({ connection, clock }: Stage, calls: readonly Call[]): Promise<void> {
  const longest = calls.reduce((ms, { plannedMs = 0 }) => Math.max(ms, plannedMs), 0);
  if (clock.mode === 'manual') await connection.post('/clock/advance', { by: longest + 3_000 });
}

async function rotateAllSecrets({ connection }: Stage): Promise<void> {
  for (const { _id, actions } of await connection.get<Rule[]>('/rules'))
    for (const action of actions)
      if (action.signed) await connection.post(`/rules/${_id}/actions/${action._id}/rotate`);
}

async function sendEverythingTwice(stage: Stage): Promise<Call> {
  const call = await startCall({ ...stage, fields: { ...stage.fields, recorded: false } });
  await endCall(stage, call);
  await stage.connection.post(`/calls/${call._id}/recording`);
  const query = { callId: call._id };
  for (const { _id } of await stage.connection.get<WebhookEventSummary[]>('/events', query))
    await stage.connection.post(`/events/${_id}/resend`);
  return call;
}

async function sendMessage({ connection, fields }: Stage): Promise<undefined> {
  const { _id } = await connection.post<{ _id: string }>('/messages', {
    subject: 'Our call on Monday',
    to: [{ email: 'ada@example.com', name: 'Ada Example' }],
    ...fields,
  });
  for (const action of ['opened', 'clicked', 'downloaded', 'replied'])
    await connection.post(`/messages/${_id}/activities`, { action });
  return undefined;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'call:started': { what: 'a call starts and continues', play: startCall },
  'call:completed': {
    what: 'a call starts and ends',
    play: async (stage) => endCall(stage, await startCall(stage)),
  },
  'call:recording-available': {
    what: 'the recording of a call becomes available',
    async play(stage) {
      const call = await endCall(stage, await startCall(stage));
      return stage.connection.post<Call>(`/calls/${call._id}/recording`);
    },
  },
  call: { what: 'a whole call of one second, with a recording', play: wholeCall },
  'unrecorded-call': {
    what: 'a whole call without a recording',
    play: (stage) => wholeCall(stage, { recorded: false }),
  },
  duplicate: { what: 'a call whose events are all sent twice', play: sendEverythingTwice },
  burst: { what: '20 calls at once', count: 20, play: placeCall, end: endCalls },
  rotation: {
    what: 'all secrets are rotated, then a call is placed',
    async play(stage) {
      await rotateAllSecrets(stage);
      return wholeCall(stage);
    },
  },
  message: { what: 'a message is sent, opened, clicked and answered', play: sendMessage },
};

/** `trigger`: makes something happen in the simulator. */
export function triggerCommand(app: App, base: Command): Command {
  const command = base
    .argument(
      '[event|scenario]',
      'the event or scenario; without it, the command lists all of them',
    )
    .option('--set <path=json>', 'set a field of the call or message; repeatable', repeatable)
    .option(
      '-n, --count <number>',
      'the number of times; for `burst`, the number of calls',
      wholeNumber('--count', 1, 10_000),
    )
    .option('-w, --wait', 'wait for the responses; exit code 1 if the receiver fails')
    .option('--retries', 'with --wait: wait until all events have succeeded or failed for good')
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait without --retries', 60_000),
    );
  return withSimulatorOption(withFieldNameOption(command))
    .addHelpText(
      'after',
      examples(
        ['trigger call --wait', 'Place a call and see how your receiver responds'],
        ['trigger call:completed --set calledName="Ada Lovelace"', 'Send one event with this name'],
        [
          'trigger call:started --set calledEmail=null -n 5',
          'Place five calls without an email address',
        ],
        [
          'trigger burst --wait --retries',
          'Place 20 calls at once, and wait until all events have succeeded',
        ],
      ),
    )
    .action(
      app.action(async (name: string | undefined, options: TriggerOptions) => {
        if (name === undefined) return list(app);
        const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
        if (scenario) return runScenario(app, name, scenario, options);
        throw badInput(
          `There is no event or scenario ${name}.`,
          didYouMean(name, Object.keys(SCENARIOS), 'List them: npx call-webhooks trigger'),
        );
      }),
    );
}

async function list({ output }: App): Promise<undefined> {
  const all = Object.entries(SCENARIOS).map(([name, { what }]) => ({ name, what }));
  if (output.json) for (const one of all) await output.print(one);
  else
    await output.print(all, (colors) => {
      const rows = all.map(({ name, what }): [string, string] => [name, what]);
      return pairs(colors, rows, output.columns);
    });
  return undefined;
}

/** The flags of `trigger`. */
interface TriggerOptions extends SimulatorOptions {
  readonly set?: readonly string[];
  readonly fieldName?: readonly string[];
  readonly count?: number;
  readonly wait?: boolean;
  readonly retries?: boolean;
  readonly timeout: number;
}

/** Plays a scenario. With `--wait`, prints how the receiver responded. */
async function runScenario(
  app: App,
  name: string,
  { what, count: usual = 1, play, end }: Scenario,
  options: TriggerOptions,
): Promise<number | undefined> {
  const { output, signal } = app;
  const { wait, retries = false, count = usual } = options;
  const timeout = AbortSignal.timeout(options.timeout);
  const done = new AbortController();
  const ends = wait && !retries ? [signal, done.signal, timeout] : [signal, done.signal];
  const connection = simulatorOf(app, options, AbortSignal.any(ends));
  const names = options.fieldName && { fieldNames: callFieldNames(options.fieldName) };
  const fields = setFields({ ...names }, options.set);
  try {
    // Before the calls are placed: no change may be missed.
    const changes = wait ? await changesOf(connection) : undefined;
    const calls: Call[] = [];
    const clock = await connection.get<ClockView>('/clock');
    const stage = { connection, fields, clock };
    for (let played = 0; played < count; played++) {
      const call = await play(stage);
      if (!call) continue;
      calls.push(call);
      if (!wait)
        await output.print({ type: 'call', call }, ({ green, bold }) => {
          return t`${green('triggered')} ${name}  call ${bold(call._id)}`;
        });
    }
    await end?.(stage, calls);
    const callIds = calls.map(({ _id }) => _id);
    if (callIds.length === 0) {
      output.message(`Done: ${what}.`);
      await output.print({ type: 'done', scenario: name });
    }
    if (!changes || callIds.length === 0) return undefined;
    if (clock.mode === 'manual') {
      const { duplicate, reorder } = await connection.get<ChaosSettings>('/chaos');
      if (retries) await connection.post('/clock/run-until-idle');
      // These delay events by up to a minute. Retries come later.
      else if (duplicate + reorder > 0) await connection.post('/clock/advance', { by: 60_000 });
    }
    const eventName = name.startsWith('call:') ? name : undefined;
    const events = await readUntil(connection, changes, () =>
      readEvents(connection, callIds, eventName, retries),
    );
    if (events.length === 0) throw nothingSent(await connection.get<Rule[]>('/rules'));
    return await printEvents(app, events, clock.mode);
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new CliError(
      EXIT.attention,
      `Not every event got a response within ${String(options.timeout / 1_000)} s.`,
      'See the pending events: npx call-webhooks events list. To wait longer: --timeout 5m',
    );
  } finally {
    done.abort();
  }
}

/**
 * The events of these calls: those with one name, or else all.
 * @param retries whether each has to have succeeded or failed for good, instead of having a response
 * @returns undefined as long as there is something to wait for
 */
async function readEvents(
  connection: Connection,
  callIds: readonly string[],
  eventName: string | undefined,
  retries: boolean,
): Promise<WebhookEventSummary[] | undefined> {
  const events: WebhookEventSummary[] = [];
  for (const callId of callIds) {
    const query = { callId, eventName, limit: 10_000 };
    events.push(...(await connection.get<WebhookEventSummary[]>('/events', query)));
    if (!events.every(retries ? isFinished : wasAttempted)) return undefined;
    if (eventName === undefined && !hasEnded(await connection.get<Call>(`/calls/${callId}`)))
      return undefined;
  }
  return events;
}

const hasEnded = ({ loggedAt, recorded, recording }: Call): boolean =>
  loggedAt !== undefined && (!recorded || recording !== undefined);

async function printEvents(
  { output }: App,
  events: readonly WebhookEventSummary[],
  clock: ClockView['mode'],
): Promise<number> {
  const attemptLines = attemptWriter(output.columns);
  for (const event of events) {
    const attempt = event.attempts.at(-1);
    await output.print({ type: 'event', event }, (colors) =>
      attempt ? attemptLines(colors, event, attempt) : unsentLine(colors, event),
    );
  }
  const failed = events.filter(({ state }) => state !== 'acknowledged');
  const [first] = failed;
  if (!first) return EXIT.done;
  const { red } = output.messageColors;
  const count = red(`${failed.length} of ${events.length} not acknowledged.`);
  output.message(t`${count} Details: npx call-webhooks events show ${shortId(first._id)}`);
  if (clock === 'manual' && failed.some(({ state }) => state === 'waiting'))
    output.message('The clock stands still. To retry: npx call-webhooks clock advance 6m');
  return EXIT.attention;
}

function nothingSent(rules: readonly Rule[]): CliError {
  return rules.length === 0
    ? badInput(
        'Nothing was sent, because there are no rules.',
        'Create them: npx call-webhooks rules create --url http://127.0.0.1:3000/hook',
      )
    : badInput('No rule sends this event.', 'List the rules: npx call-webhooks rules list');
}
