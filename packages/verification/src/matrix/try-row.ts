import { openIdleConnections } from './idle-connections.ts';
import { signedDelivery } from './delivery.ts';
import { exchange, type SocketReply } from './raw-socket.ts';
import { requestBytes } from './request-bytes.ts';
import type { Row } from './row.ts';
import type { Target } from './target.ts';

/** The result of one row at one target. */
export interface Observation {
  readonly response: string;
  readonly logged: readonly string[] | undefined;
  /** The response to the valid delivery, with the same id and event, sent after it. */
  readonly afterwards: string;
  /** What happened although it must not. */
  readonly violations: readonly string[];
}

const pausesRule = (status: number) =>
  status === 404 || status === 410 || (status >= 300 && status < 400);

/** Sends one kind of bad input, then the valid delivery that it was made from. */
export async function tryRow(row: Row, target: Target): Promise<Observation> {
  const valid = await signedDelivery(target.secret);
  const { responses = 1 } = row;
  // Without an expected response there is nothing to wait for.
  const timeoutMs = responses === 0 ? 100 : target.timeoutMs;
  const context = {
    valid,
    path: target.path,
    sign: (body?: string | Uint8Array, options = {}) =>
      signedDelivery(target.secret, body, options),
  };
  const idle =
    row.idleConnections === undefined
      ? undefined
      : await openIdleConnections(target.port, row.idleConnections);
  const reply = await exchange(target, await row.steps(context), { responses, timeoutMs });
  const logged = target.takeLog();
  const after = await sendValid(target, valid);
  await idle?.close();
  return {
    response: describe(reply),
    logged,
    afterwards: describe(after),
    violations: [
      ...violationsOf(row, reply),
      ...unexpected(row, reply),
      ...violationsAfter(reply, after),
    ],
  };
}

/** Repeats while the event is in progress: a handler keeps running after its client has gone away. */
async function sendValid(target: Target, valid: Awaited<ReturnType<typeof signedDelivery>>) {
  for (;;) {
    const reply = await exchange(target, [requestBytes(valid, target.path)]);
    if (reply.outcomes[0] !== 'in-progress') return reply;
  }
}

function violationsOf(
  { expect, framework, responses = 1 }: Row,
  { statuses, outcomes }: SocketReply,
): string[] {
  const violations: string[] = [];
  const forbidden = statuses.find(pausesRule);
  if (forbidden !== undefined && !framework)
    violations.push(`${String(forbidden)} pauses the rule`);
  if (statuses.length < responses && !framework) violations.push('no response');
  const good = statuses.filter((status) => status < 300).length;
  if (expect === 'accepted' && good < responses) violations.push('not accepted');
  if (expect === 'refused' && good > 0) violations.push('accepted');
  if (expect === 'refused' && outcomes.includes('handled')) violations.push('handled');
  return violations;
}

const unexpected = ({ oneOf }: Row, reply: SocketReply): string[] =>
  oneOf && !oneOf.includes(describe(reply)) ? [`not ${oneOf.join(' or ')}`] : [];

/** A refused delivery must not have claimed anything, and a handled one must be remembered. */
function violationsAfter(reply: SocketReply, after: SocketReply): string[] {
  const known = ['handled', 'replayed', 'duplicate'].includes(after.outcomes[0] ?? '');
  if (!known) return [`the valid delivery got ${describe(after)} afterwards`];
  const handledBefore = reply.outcomes.includes('handled');
  if (reply.outcomes.length > 0 && !handledBefore && after.outcomes[0] !== 'handled')
    return ['a refused delivery claimed something'];
  return [];
}

const describe = ({ statuses, outcomes, closed }: SocketReply): string => {
  if (statuses.length === 0) return closed ? 'closed' : 'nothing';
  return statuses.map((status, at) => `${String(status)} ${outcomes[at] ?? ''}`.trim()).join(', ');
};
