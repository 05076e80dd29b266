import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sign } from '@call-webhooks/core';
import { monotonicMs } from './clock.ts';
import { draw } from './draw.ts';
import type { Journal } from './journal.ts';

/** As the service's 30 s and 5 min, in a small world: with a lease in between, as there. */
const ACKNOWLEDGE_MS = 1_200;
const RETRY_MS = 300;

export interface DeliveriesOptions {
  seed: string;
  secret: string;
  /** The receivers, in turn. */
  ports: readonly number[];
  journal: Journal;
  /** Events a second, and for how long. */
  rate: number;
  ms: number;
  /** When to give up on what was not acknowledged; `monotonicMs()`. */
  giveUpAt: number;
}

/** Plays the service: every event until it is acknowledged, and some of them in several copies at once. */
export async function sendEvents(options: DeliveriesOptions): Promise<void> {
  const { seed, secret, ports, journal, rate, ms, giveUpAt } = options;
  let turn = 0;

  async function deliver(callId: string, copy: number): Promise<void> {
    const body = JSON.stringify({ eventName: 'call:completed', callId });
    for (let attempt = 1; monotonicMs() < giveUpAt; attempt++) {
      const headers = await sign({ secret, body });
      const at = monotonicMs();
      const answer = await post(ports[turn++ % ports.length] as number, body, headers);
      const key = `${callId}:call:completed`;
      journal.write({ kind: 'delivery', at, until: monotonicMs(), key, ...answer });
      if (answer.status >= 200 && answer.status <= 299) return;
      await delay(RETRY_MS * (0.7 + 0.6 * draw(seed, 'retry', callId, copy, attempt)));
    }
  }

  const sent: Promise<void>[] = [];
  const start = monotonicMs();
  for (let number = 0; number < (rate * ms) / 1_000; number++) {
    await delay(Math.max(0, start + (number * 1_000) / rate - monotonicMs()));
    const callId = `call-${String(number)}`;
    const chance = draw(seed, 'copies', callId);
    const copies = chance < 0.6 ? 1 : chance < 0.85 ? 2 : 3;
    for (let copy = 0; copy < copies; copy++) sent.push(deliver(callId, copy));
  }
  await Promise.all(sent);
}

function post(
  port: number,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number; outcome: string }> {
  return new Promise((resolve) => {
    const none = (why: string) => resolve({ status: 0, outcome: why });
    const outgoing = request(
      { port, host: '127.0.0.1', path: '/hook', method: 'POST', agent: false, headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('error', () => none('cut off'));
        response.on('end', () => {
          const { outcome } = JSON.parse(text) as { outcome: string };
          resolve({ status: response.statusCode ?? 0, outcome });
        });
      },
    );
    outgoing.setTimeout(ACKNOWLEDGE_MS, () => outgoing.destroy(new Error('too late')));
    outgoing.on('error', ({ message }) => none(message));
    outgoing.end(body);
  });
}
