import type { App } from '../app.ts';
import { CliError, environment } from '../cli-error.ts';
import { EXIT } from '../exit.ts';
import { assign } from '../input/assignments.ts';
import { simulatorUrl } from '../simulator/address.ts';
import { connect } from '../simulator/connection.ts';
import { attemptLine } from '../simulator/delivery-lines.ts';
import type { ClockView, DeliverySummary, Rule } from '../simulator/views.ts';
import { t, type Text } from '../terminal/text.ts';
import type { Ink } from '../terminal/ink.ts';
import type { Scenario } from './scenarios.ts';
import { answersOf } from './wait.ts';

/** The flags of `trigger`. */
export interface TriggerOptions {
  readonly simulator?: string;
  readonly set?: readonly string[];
  readonly count?: number;
  readonly wait?: boolean;
  readonly retries?: boolean;
  readonly timeout: number;
}

/** Makes something happen in the simulator, and with `--wait` tells how the receiver took it. */
export async function trigger(
  app: App,
  name: string,
  scenario: Scenario,
  options: TriggerOptions,
): Promise<number | undefined> {
  const { io, output, signal } = app;
  const late = AbortSignal.timeout(options.timeout);
  const over = new AbortController();
  const ends =
    options.wait && !options.retries ? [signal, over.signal, late] : [signal, over.signal];
  const connection = connect(simulatorUrl(io, options.simulator), AbortSignal.any(ends));
  const fields = assign({}, options.set);
  try {
    const answers = options.wait ? await answersOf(connection) : undefined;
    const callIds: string[] = [];
    for (let made = 0; made < (options.count ?? scenario.count); made++) {
      const clock = await connection.get<ClockView>('/clock');
      const call = await scenario.play({ connection, fields, clock });
      if (!call) continue;
      callIds.push(call._id);
      if (!answers) await output.show({ type: 'call', call }, (ink) => placed(ink, name, call._id));
    }
    if (callIds.length === 0) {
      output.say(`Done: ${scenario.what}.`);
      await output.show({ type: 'done', scenario: name }, () => []);
    }
    if (!answers || callIds.length === 0) return undefined;
    if (options.retries && (await connection.get<ClockView>('/clock')).mode === 'manual')
      await connection.post('/clock/run-until-idle');
    const { eventName } = scenario;
    const retries = options.retries ?? false;
    const deliveries = await answers({ callIds, eventName, retries });
    if (deliveries.length === 0) throw await nothingSent(connection.get<Rule[]>('/rules'));
    return await told(app, deliveries);
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw new CliError(
      EXIT.receiverFailed,
      `Not everything was answered within ${String(options.timeout / 1_000)} s.`,
      'Look at what is under way: call-webhooks deliveries list. Longer: --timeout 5m',
    );
  } finally {
    over.abort();
  }
}

const placed = (ink: Ink, name: string, id: string): Text =>
  t`${ink.green('triggered')} ${name}  call ${ink.bold(id)}`;

async function told({ output }: App, deliveries: readonly DeliverySummary[]): Promise<number> {
  const bad = deliveries.filter(({ state }) => state !== 'acknowledged');
  for (const delivery of deliveries) {
    const attempt = delivery.attempts.at(-1);
    await output.show({ type: 'delivery', delivery }, (ink) =>
      attempt ? attemptLine(ink, delivery, attempt) : unsent(ink, delivery),
    );
  }
  if (bad.length === 0) return EXIT.done;
  output.say(
    t`${output.talk.red(`${bad.length} of ${deliveries.length} not acknowledged.`)} Look closer: call-webhooks deliveries show ${bad[0]?._id ?? ''}`,
  );
  return EXIT.receiverFailed;
}

const unsent = (ink: Ink, { eventName, callId, state, ruleId }: DeliverySummary): Text =>
  t`${eventName}  ${callId}  ${ink.red(state)}: its rule is paused. Resume it: call-webhooks rules resume ${ruleId}`;

async function nothingSent(rules: Promise<Rule[]>): Promise<CliError> {
  return (await rules).length === 0
    ? environment(
        'There are no rules, so nothing was sent.',
        'Make them: call-webhooks rules create --url http://127.0.0.1:3000/hook',
      )
    : environment('No rule sends this event.', 'See what there is: call-webhooks rules list');
}
