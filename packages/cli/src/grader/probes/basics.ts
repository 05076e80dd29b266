import type { Answer } from '../exchange.ts';
import { accepted, found, isAcknowledged } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';
import type { TestedReceiver } from '../tested-receiver.ts';

const SECRET_FIX =
  'Check that the receiver uses this secret, verifies the raw body before any parser, and returns 2xx.';

/**
 * Whether a body is refused for what the interface does not show: an event that the receiver does not know, or
 * guessed field names. A forged delivery then gets another status.
 */
async function refusesOurBody(receiver: TestedReceiver, { status }: Answer): Promise<boolean> {
  const { runHandlers, fieldNames } = receiver.options;
  if (status === undefined || status < 400 || status === 404) return false;
  if (runHandlers && (status >= 500 || fieldNames?.placedBy !== undefined)) return false;
  const forged = receiver.sign(receiver.refusedEvent().body, { key: Buffer.alloc(24, 7) });
  const other = await receiver.send(forged);
  return other.status !== undefined && !isAcknowledged(other) && other.status !== status;
}

/** The first probe: without it, a refusal shows nothing. */
export const BASELINE = 'authentic';

export const basics: readonly Probe[] = [
  {
    id: BASELINE,
    group: 'basics',
    title: 'An authentic delivery is acknowledged',
    spec: SPEC.acknowledge,
    fix: SECRET_FIX,
    weight: 10,
    needs: ['secret'],
    async run(receiver) {
      const answer = await receiver.deliver(receiver.event());
      if (answer.date !== undefined) {
        const ahead = Math.round((answer.date - Date.now()) / 1_000);
        // One second is the precision of the header.
        if (Math.abs(ahead) > 2) receiver.clockAhead = ahead;
      }
      if (!(await refusesOurBody(receiver, answer))) return accepted(answer);
      const cause = receiver.options.runHandlers
        ? 'guessed field names'
        : 'an event it does not know';
      return found.skipped(`${String(answer.status)} for ${cause}`);
    },
  },
  {
    id: 'clock',
    group: 'basics',
    title: "The receiver's clock is right",
    spec: SPEC.timestamp,
    fix: 'Synchronize the clock of the machine (NTP).',
    weight: 2,
    needs: ['secret'],
    run: (receiver) =>
      Promise.resolve(
        Math.abs(receiver.clockAhead) > 60
          ? found.fail(`${String(receiver.clockAhead)} s ahead of this machine's`)
          : found.pass('within a minute'),
      ),
  },
  {
    id: 'exact-bytes',
    group: 'basics',
    title: 'Unusual spacing, escapes and numbers: the raw bytes count',
    spec: SPEC.rawBody,
    fix: 'Verify the raw bytes, not JSON that was parsed and written again.',
    weight: 8,
    needs: ['secret'],
    async run(receiver) {
      const { name, callId } = receiver.event();
      const body = `{ "callId" :"${callId}",\r\n\t"eventName": ${JSON.stringify(name)}, "n": 1.0e2, "s": "\\u00e9\\/", "${receiver.names.placedBy}": "check.user" }\n`;
      return accepted(await receiver.send(receiver.sign(body)));
    },
  },
  {
    id: 'utf-8',
    group: 'basics',
    title: 'Text outside of ASCII in the body',
    spec: SPEC.rawBody,
    fix: 'Compute the HMAC over bytes, without decoding the body.',
    weight: 5,
    needs: ['secret'],
    async run(receiver) {
      const text = 'Zoë Ōtani 📞 \u2028 e\u0301';
      return accepted(await receiver.deliver(receiver.event({ fields: { note: text } })));
    },
  },
];
