import type { App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { EXIT } from '../exit.ts';
import { described } from '../http/judgement.ts';
import { send, type Answer } from '../http/post.ts';
import { reached } from '../http/reached.ts';
import { simulatorUrl } from '../simulator/address.ts';
import { connect, type Connection } from '../simulator/connection.ts';
import { attemptLine } from '../simulator/delivery-lines.ts';
import { findDelivery } from '../simulator/find-delivery.ts';
import { attempted } from '../simulator/progress.ts';
import { changesOf } from '../simulator/stream.ts';
import type { Delivery, DeliverySummary } from '../simulator/views.ts';
import { t } from '../terminal/text.ts';

/** The flags of `replay`. */
export interface ReplayOptions {
  readonly simulator?: string;
  readonly reSign?: boolean;
}

const PATIENCE_MS = 31_000;

/** Sends a delivery again: captured, or signed anew. */
export async function replay(
  app: App,
  id: string,
  { simulator, reSign }: ReplayOptions,
): Promise<number> {
  const over = new AbortController();
  const signal = AbortSignal.any([app.signal, over.signal]);
  const connection = connect(simulatorUrl(app.io, simulator), signal);
  try {
    const delivery = await findDelivery(connection, id);
    return await (reSign ? anew(app, connection, delivery) : captured(app, delivery));
  } finally {
    over.abort();
  }
}

async function anew({ output }: App, connection: Connection, { _id }: Delivery): Promise<number> {
  const changes = await changesOf(connection);
  const { _id: copy } = await connection.post<Delivery>(`/deliveries/${_id}/resend`);
  const look = () => connection.get<DeliverySummary>(`/deliveries/${copy}`);
  let sent = await look();
  if (!attempted(sent))
    for await (const _ of changes) {
      sent = await look();
      if (attempted(sent)) break;
    }
  const attempt = sent.attempts.at(-1);
  await output.show(sent, (ink) => (attempt ? attemptLine(ink, sent, attempt) : t`${sent.state}`));
  return sent.state === 'acknowledged' ? EXIT.done : EXIT.receiverFailed;
}

async function captured({ output, signal }: App, delivery: Delivery): Promise<number> {
  const request = delivery.attempts.at(-1)?.request;
  if (!request)
    throw badInput('This delivery was never sent.', 'With --re-sign it is sent all the same.');
  const { url, headers } = request;
  const body = Buffer.from(request.body);
  const answer = reached(url, await send({ url, headers, body, timeout: PATIENCE_MS }, signal));
  const refused = answer.kind === 'status' && (answer.status === 409 || answer.status === 401);
  const record = { url, answer: plain(answer), refused };
  await output.show(record, (ink) =>
    refused
      ? t`${ink.green(described(answer))}  refused, as a captured request is to be`
      : t`${ink.red(described(answer))}  ${verdict(answer)}`,
  );
  return refused ? EXIT.done : EXIT.receiverFailed;
}

function verdict(answer: Answer): string {
  if (answer.kind === 'status' && answer.status < 300)
    return 'accepted: the receiver does not remember webhook ids, so anybody can send a captured request again';
  return 'neither refused (409, 401) nor accepted';
}

const plain = (answer: Answer) =>
  answer.kind === 'status' ? { kind: answer.kind, status: answer.status, ms: answer.ms } : answer;
