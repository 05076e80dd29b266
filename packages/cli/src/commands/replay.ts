import type { Delivery, DeliveryView } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { describeResult, requireReached } from '../http/effect.ts';
import { post, type PostResult } from '../http/post.ts';
import {
  simulatorOf,
  withSimulatorOption,
  type Connection,
  type SimulatorOptions,
} from '../simulator/connection.ts';
import { attemptLines, createExplainer } from '../simulator/attempt-lines.ts';
import { findDelivery, wasAttempted } from '../simulator/deliveries.ts';
import { changesOf } from '../simulator/updates.ts';
import { t } from '../terminal/text.ts';

interface ReplayOptions extends SimulatorOptions {
  readonly reSign?: boolean;
}

/** Just above the service's 30 seconds, in milliseconds. */
const TIMEOUT_MS = 31_000;

/** `replay`: sends a delivery of the simulator again. */
export function replayCommand(app: App, base: Command): Command {
  const command = base
    .argument('<id>', 'the id of the delivery or the beginning of it')
    .option('--re-sign', 'send it as a new delivery, with a new id, timestamp and signature');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      `
Without --re-sign, the last request is sent again byte for byte, as an attacker
who captured it would do. The receiver must refuse it: with 409, or with 401
once it is older than five minutes. Exit code 1 if it does not.
With --re-sign, the receiver must acknowledge the event as a duplicate.
${examples(['replay 1f2e', 'Does the receiver refuse a captured request?'], ['replay 1f2e --re-sign', 'Deliver the event again'])}`,
    )
    .action(app.action((id: string, options: ReplayOptions) => replay(app, id, options)));
}

async function replay(app: App, id: string, options: ReplayOptions): Promise<number> {
  const done = new AbortController();
  const connection = simulatorOf(app, options, AbortSignal.any([app.signal, done.signal]));
  try {
    const delivery = await findDelivery(connection, id);
    return await (options.reSign
      ? deliverAgain(app, connection, delivery)
      : sendCaptured(app, delivery));
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

async function sendCaptured({ output, signal }: App, delivery: DeliveryView): Promise<number> {
  const captured = delivery.attempts.at(-1)?.request;
  if (!captured) throw badInput('This delivery was never sent.', 'To send it now, pass --re-sign.');
  const { url, headers } = captured;
  const request = { url, headers, body: Buffer.from(captured.body), timeout: TIMEOUT_MS };
  const result = requireReached(url, await post(request, signal));
  const refused = result.kind === 'status' && (result.status === 409 || result.status === 401);
  await output.print({ url, response: withoutBody(result), refused }, ({ green, red }) =>
    refused
      ? t`${green(describeResult(result))}  refused, as it must be`
      : t`${red(describeResult(result))}  ${problemOf(result)}`,
  );
  return refused ? EXIT.done : EXIT.receiverFailed;
}

function problemOf(result: PostResult): string {
  if (result.kind === 'status' && result.status >= 200 && result.status < 300)
    return 'accepted: the receiver does not remember webhook ids, so anyone who captures a request can replay it';
  return 'neither accepted nor refused with 409 or 401';
}

const withoutBody = (result: PostResult) =>
  result.kind === 'status' ? { kind: result.kind, status: result.status, ms: result.ms } : result;
