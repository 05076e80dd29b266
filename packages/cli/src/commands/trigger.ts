import type { Call, ClockView, DeliverySummary, Rule } from '@call-webhooks/simulator';
import { Argument, type Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, CliError, EXIT } from '../errors.ts';
import { setFields } from '../input/fields.ts';
import { didYouMean, durationOption, repeatable, wholeNumber } from '../input/options.ts';
import { attemptLines, createExplainer, unsentLine } from '../simulator/attempt-lines.ts';
import {
  type Connection,
  isFinished,
  simulatorOf,
  type SimulatorOptions,
  wasAttempted,
  withSimulatorOption,
} from '../simulator/connection.ts';
import { changesOf } from '../simulator/updates.ts';
import { askChoice } from '../terminal/prompts.ts';
import { pairs, shortId } from '../terminal/table.ts';
import { t } from '../terminal/text.ts';

/** What a scenario works with. */
export interface Stage {
  readonly connection: Connection;
  /** The fields from `--set`: of a call, or of a message. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly clock: ClockView;
}

/** Something that `trigger` can do. */
export interface Scenario {
  readonly what: string;
  /** How many times without `--count`. */
  readonly count: number;
  /** The event to wait for. Without it, all events of the call. */
  readonly eventName?: string;
  /** Plays the scenario once. @returns the call, if there is one */
  play(stage: Stage): Promise<Call | undefined>;
}

/** How long a call lasts, unless `--set durationSeconds=…` is given: nobody wants to wait. */
const CALL_SECONDS = 1;

const startCall = ({ connection, fields }: Stage) =>
  connection.post<Call>('/calls/start', { recorded: false, ...fields });
const endCall = ({ connection }: Stage, { _id }: Call) =>
  connection.post<Call>(`/calls/${_id}/end`);
const placeCall = ({ connection, fields }: Stage, more: object = {}) =>
  connection.post<Call>('/calls', { durationSeconds: CALL_SECONDS, ...more, ...fields });

/** Places a call and advances a manual clock as far as the call needs. */
async function wholeCall(stage: Stage, more?: object): Promise<Call> {
  const call = await placeCall(stage, more);
  if (stage.clock.mode === 'manual')
    await stage.connection.post('/clock/advance', { by: (call.plannedMs ?? 0) + 3_000 });
  return call;
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
  for (const { _id } of await stage.connection.get<DeliverySummary[]>('/deliveries', query))
    await stage.connection.post(`/deliveries/${_id}/resend`);
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

/** All events and scenarios, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'call:started': {
    what: 'a call starts and continues',
    count: 1,
    eventName: 'call:started',
    play: startCall,
  },
  'call:completed': {
    what: 'a call starts and ends',
    count: 1,
    eventName: 'call:completed',
    play: async (stage) => endCall(stage, await startCall(stage)),
  },
  'call:recording-available': {
    what: 'the recording of a call becomes available',
    count: 1,
    eventName: 'call:recording-available',
    async play(stage) {
      const call = await endCall(stage, await startCall(stage));
      return stage.connection.post<Call>(`/calls/${call._id}/recording`);
    },
  },
  call: {
    what: 'a whole call of one second, with a recording',
    count: 1,
    play: wholeCall,
  },
  'unrecorded-call': {
    what: 'a whole call without a recording',
    count: 1,
    play: (stage) => wholeCall(stage, { recorded: false }),
  },
  duplicate: {
    what: 'a call whose events are all sent twice',
    count: 1,
    play: sendEverythingTwice,
  },
  burst: { what: '20 calls at once', count: 20, play: placeCall },
  rotation: {
    what: 'all secrets are rotated, then a call is placed',
    count: 1,
    async play(stage) {
      await rotateAllSecrets(stage);
      return wholeCall(stage);
    },
  },
  message: {
    what: 'a message is sent, opened, clicked and answered',
    count: 1,
    play: sendMessage,
  },
};

const ENTRIES = Object.entries(SCENARIOS);
const SEE_LIST = 'List them: call-webhooks trigger --list';

/** `trigger`: makes something happen in the simulator. */
export function triggerCommand(app: App, base: Command): Command {
  const command = base
    .addArgument(new Argument('[event|scenario]', 'see --list'))
    .option('--list', 'list all events and scenarios')
    .option('--set <path=json>', 'set a field of the call or message; repeatable', repeatable)
    .option(
      '-n, --count <number>',
      'how many times; for `burst`: how many calls',
      wholeNumber('--count', 1, 10_000),
    )
    .option('-w, --wait', 'wait for the responses; exit code 1 if the receiver fails')
    .option('--retries', 'with --wait: wait until all deliveries have succeeded or failed for good')
    .addOption(
      durationOption('--timeout <duration>', 'the longest wait without --retries', 60_000),
    );
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      examples(
        ['trigger call --wait', 'Place a call and see how your receiver responds'],
        ['trigger call:completed --set calledName="Ada Lovelace"', 'One event with this name'],
        ['trigger call:started --set calledEmail=null -n 5', 'Five calls without an email address'],
        ['trigger burst --wait --retries', '20 calls at once, until all have succeeded'],
      ),
    )
    .action(
      app.action(
        async (given: string | undefined, options: TriggerOptions & { list?: boolean }) => {
          if (options.list) return list(app);
          const name = given ?? (await askForScenario(app));
          const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
          if (!scenario)
            throw badInput(
              `There is no event or scenario ${name}.`,
              didYouMean(name, Object.keys(SCENARIOS), SEE_LIST),
            );
          return runScenario(app, name, scenario, options);
        },
      ),
    );
}

async function list({ output }: App): Promise<undefined> {
  if (output.json)
    for (const [name, { what, count }] of ENTRIES) await output.print({ name, what, count });
  else
    await output.print(undefined, (colors) =>
      pairs(
        colors,
        ENTRIES.map(([name, { what }]) => [name, what]),
        output.columns,
      ),
    );
  return undefined;
}

async function askForScenario(app: App): Promise<string> {
  if (!app.interactive) throw badInput('The event or scenario is missing.', SEE_LIST);
  const choices = ENTRIES.map(([value, { what }]: [string, Scenario]) => ({
    value,
    label: value,
    hint: what,
  }));
  return askChoice(app, 'What do you want to trigger?', choices);
}

/** The flags of `trigger`. */
interface TriggerOptions extends SimulatorOptions {
  readonly set?: readonly string[];
  readonly count?: number;
  readonly wait?: boolean;
  readonly retries?: boolean;
  readonly timeout: number;
}

/** Plays a scenario. With `--wait`, prints how the receiver responded. */
async function runScenario(
  app: App,
  name: string,
  scenario: Scenario,
  options: TriggerOptions,
): Promise<number | undefined> {
  const { output, signal } = app;
  const { wait, retries = false, count = scenario.count } = options;
  const timeout = AbortSignal.timeout(options.timeout);
  const done = new AbortController();
  const ends = wait && !retries ? [signal, done.signal, timeout] : [signal, done.signal];
  const connection = simulatorOf(app, options, AbortSignal.any(ends));
  const fields = setFields({}, options.set);
  try {
    const deliveriesOf = wait ? await watchDeliveries(connection) : undefined;
    const callIds: string[] = [];
    for (let played = 0; played < count; played++) {
      const clock = await connection.get<ClockView>('/clock');
      const call = await scenario.play({ connection, fields, clock });
      if (!call) continue;
      callIds.push(call._id);
      if (!deliveriesOf)
        await output.print({ type: 'call', call }, ({ green, bold }) => {
          return t`${green('triggered')} ${name}  call ${bold(call._id)}`;
        });
    }
    if (callIds.length === 0) {
      output.message(`Done: ${scenario.what}.`);
      await output.print({ type: 'done', scenario: name });
    }
    if (!deliveriesOf || callIds.length === 0) return undefined;
    if (retries && (await connection.get<ClockView>('/clock')).mode === 'manual')
      await connection.post('/clock/run-until-idle');
    const { eventName } = scenario;
    const deliveries = await deliveriesOf({ callIds, eventName, retries });
    if (deliveries.length === 0) throw nothingSent(await connection.get<Rule[]>('/rules'));
    return await printDeliveries(app, deliveries);
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new CliError(
      EXIT.receiverFailed,
      `Not every delivery got a response within ${String(options.timeout / 1_000)} s.`,
      'See what is pending: call-webhooks deliveries list. To wait longer: --timeout 5m',
    );
  } finally {
    done.abort();
  }
}

async function printDeliveries(
  { output }: App,
  deliveries: readonly DeliverySummary[],
): Promise<number> {
  const explain = createExplainer();
  for (const delivery of deliveries) {
    const attempt = delivery.attempts.at(-1);
    await output.print({ type: 'delivery', delivery }, (colors) =>
      attempt
        ? [
            ...attemptLines(colors, output.columns, delivery, attempt),
            ...explain(colors, output.columns, attempt),
          ]
        : unsentLine(colors, delivery),
    );
  }
  const failed = deliveries.filter(({ state }) => state !== 'acknowledged');
  const [first] = failed;
  if (!first) return EXIT.done;
  const { red } = output.messageColors;
  const count = red(`${failed.length} of ${deliveries.length} not acknowledged.`);
  output.message(t`${count} Details: call-webhooks deliveries show ${shortId(first._id)}`);
  return EXIT.receiverFailed;
}

function nothingSent(rules: readonly Rule[]): CliError {
  return rules.length === 0
    ? badInput(
        'Nothing was sent, because there are no rules.',
        'Create them: call-webhooks rules create --url http://127.0.0.1:3000/hook',
      )
    : badInput('No rule sends this event.', 'List the rules: call-webhooks rules list');
}

/** Which deliveries to wait for. */
export interface Awaited {
  readonly callIds: readonly string[];
  /** Only deliveries of this event. Without it, all deliveries of the calls. */
  readonly eventName?: string | undefined;
  /** Wait until each has succeeded or failed for good, not only for its first response. */
  readonly retries: boolean;
}

const hasEnded = (call: Call): boolean =>
  call.loggedAt !== undefined && (!call.recorded || call.recording !== undefined);

/**
 * Watches the simulator. Call this before the calls are placed, and the returned function after:
 * it waits until the receiver has responded to everything that the calls caused.
 */
async function watchDeliveries(
  connection: Connection,
): Promise<(awaited: Awaited) => Promise<DeliverySummary[]>> {
  const changes = await changesOf(connection);
  return async (awaited) => {
    let state = await readState(connection, awaited);
    if (!state.done)
      for await (const _ of changes) {
        state = await readState(connection, awaited);
        if (state.done) break;
      }
    return state.deliveries;
  };
}

async function readState(
  connection: Connection,
  { callIds, eventName, retries }: Awaited,
): Promise<{ done: boolean; deliveries: DeliverySummary[] }> {
  const isDone = retries ? isFinished : wasAttempted;
  const deliveries: DeliverySummary[] = [];
  let done = true;
  for (const callId of callIds) {
    const query = { callId, eventName, limit: 10_000 };
    const found = await connection.get<DeliverySummary[]>('/deliveries', query);
    deliveries.push(...found);
    done &&= found.every(isDone);
    if (done && eventName === undefined)
      done = hasEnded(await connection.get<Call>(`/calls/${callId}`));
  }
  return { done, deliveries };
}
