import type { ClockView, DeliverySummary, Rule } from '@call-webhooks/simulator';
import type { App } from '../../app.ts';
import { badInput, CliError, EXIT } from '../../errors.ts';
import { setFields } from '../../input/fields.ts';
import { simulatorOf, type SimulatorOptions } from '../../simulator/connection.ts';
import { attemptLines, createExplainer, unsentLine } from '../../simulator/attempt-lines.ts';
import { shortId } from '../../terminal/table.ts';
import { t } from '../../terminal/text.ts';
import type { Scenario } from './scenarios.ts';
import { watchDeliveries } from './wait.ts';

/** The flags of `trigger`. */
export interface TriggerOptions extends SimulatorOptions {
  readonly set?: readonly string[];
  readonly count?: number;
  readonly wait?: boolean;
  readonly retries?: boolean;
  readonly timeout: number;
}

/** Plays a scenario. With `--wait`, prints how the receiver responded. */
export async function runScenario(
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
