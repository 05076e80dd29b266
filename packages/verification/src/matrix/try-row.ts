import { openCrowd } from './crowd.ts';
import { signedDelivery } from './delivery.ts';
import { say, type Heard } from './raw-socket.ts';
import { requestBytes } from './request-bytes.ts';
import type { Row } from './row.ts';
import type { Target } from './target.ts';

/** What came of one row at one target. */
export interface Observation {
  readonly answer: string;
  readonly logged: readonly string[] | undefined;
  /** What the honest delivery, with the same id and event, is answered after it. */
  readonly afterwards: string;
  /** What the design forbids and was seen all the same. */
  readonly faults: readonly string[];
}

const FORBIDDEN = (status: number) =>
  status === 404 || status === 410 || (status >= 300 && status < 400);

/** Tries one kind of bad input, then the honest delivery that it was made of. */
export async function tryRow(row: Row, target: Target): Promise<Observation> {
  const honest = await signedDelivery(target.secret);
  const { answers = 1 } = row;
  // Where nobody listens there is nothing to wait for.
  const patienceMs = answers === 0 ? 100 : target.patienceMs;
  const scene = {
    honest,
    path: target.path,
    sign: (body?: string | Uint8Array, options = {}) =>
      signedDelivery(target.secret, body, options),
  };
  const crowd = row.crowd === undefined ? undefined : await openCrowd(target.port, row.crowd);
  const heard = await say(target, await row.pieces(scene), { answers, patienceMs });
  const logged = target.takeLog();
  const after = await honestOne(target, honest);
  await crowd?.leave();
  return {
    answer: describe(heard),
    logged,
    afterwards: describe(after),
    faults: [...faultsOf(row, heard), ...unforeseen(row, heard), ...faultsAfter(heard, after)],
  };
}

/** Sent again while it is being handled: a client that went away does not stop a handler. */
async function honestOne(target: Target, honest: Awaited<ReturnType<typeof signedDelivery>>) {
  for (;;) {
    const heard = await say(target, [requestBytes(honest, target.path)]);
    if (heard.outcomes[0] !== 'in-progress') return heard;
  }
}

function faultsOf(
  { expect, framework, answers = 1 }: Row,
  { statuses, outcomes }: Heard,
): string[] {
  const faults: string[] = [];
  const forbidden = statuses.find(FORBIDDEN);
  if (forbidden !== undefined && !framework) faults.push(`${String(forbidden)} pauses the rule`);
  if (statuses.length < answers && !framework) faults.push('no answer');
  const good = statuses.filter((status) => status < 300).length;
  if (expect === 'accepted' && good < answers) faults.push('not accepted');
  if (expect === 'refused' && good > 0) faults.push('accepted');
  if (expect === 'refused' && outcomes.includes('handled')) faults.push('handled');
  return faults;
}

const unforeseen = ({ oneOf }: Row, heard: Heard): string[] =>
  oneOf && !oneOf.includes(describe(heard)) ? [`not ${oneOf.join(' or ')}`] : [];

/** Nothing that was refused may have been claimed, and what was handled is known. */
function faultsAfter(heard: Heard, after: Heard): string[] {
  const known = ['handled', 'replayed', 'duplicate'].includes(after.outcomes[0] ?? '');
  if (!known) return [`afterwards the honest delivery was answered ${describe(after)}`];
  const handledBefore = heard.outcomes.includes('handled');
  if (heard.outcomes.length > 0 && !handledBefore && after.outcomes[0] !== 'handled')
    return ['something was claimed for a delivery that was refused'];
  return [];
}

const describe = ({ statuses, outcomes, closed }: Heard): string => {
  if (statuses.length === 0) return closed ? 'closed' : 'nothing';
  return statuses.map((status, at) => `${String(status)} ${outcomes[at] ?? ''}`.trim()).join(', ');
};
