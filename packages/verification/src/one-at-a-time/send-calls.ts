import { setTimeout as delay } from 'node:timers/promises';
import { sign } from '@call-webhooks/core';
import { callBody, recordingBody } from '@call-webhooks/contract-tests/sender';
import { seededRandom } from '../history/seeded-random.ts';

/** Calls that are under way at the same time. */
const CONCURRENT_CALLS = 40;
const PATIENCE_MS = 10_000;

export interface CallsOptions {
  seed: string;
  secret: string;
  ports: readonly number[];
  calls: number;
}

/**
 * Sends both events of each call almost together, in an order by the seed, each to any receiver and
 * sometimes twice, and again until it is acknowledged.
 */
export async function sendCalls(options: CallsOptions): Promise<void> {
  let next = 0;
  const sendSome = async () => {
    while (next < options.calls) await sendCall(next++, options);
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, sendSome));
}

async function sendCall(number: number, { seed, secret, ports }: CallsOptions): Promise<void> {
  const callId = `call-${String(number)}`;
  const random = (...parts: (string | number)[]) => seededRandom(seed, callId, ...parts);
  const bodies = [callBody(callId), recordingBody(callId)];
  if (random('order') < 0.5) bodies.reverse();

  async function deliver(body: string, name: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const port = ports[Math.floor(random(name, attempt, 'port') * ports.length)] as number;
      if (await isAcknowledged(`http://127.0.0.1:${String(port)}/hook`, body, secret)) return;
      await delay(50 + 300 * random(name, attempt, 'pause'));
    }
  }

  await Promise.all(
    bodies.map(async (body, index) => {
      await delay(index * 4 * random('gap'));
      const copies = random(index, 'copies') < 0.3 ? 2 : 1;
      await Promise.all(
        Array.from({ length: copies }, (_, copy) =>
          deliver(body, `${String(index)}-${String(copy)}`),
        ),
      );
    }),
  );
}

/** Posts it as a new delivery. A killed receiver gives no response. */
async function isAcknowledged(url: string, body: string, secret: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json', ...(await sign({ secret, body })) };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
