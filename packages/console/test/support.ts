import { afterEach } from '@jest/globals';
import { callBody, collectingLogger, recordingBody } from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  memoryDeadLetters,
  sign,
  type ReceiverOptions,
} from '@call-webhooks/core';
import type { Session } from '../src/api-types.ts';
import { createConsole, type ConsoleOptions } from '../src/index.ts';

/** What a test says of its console. `authorize` lets Ada in by default. */
export type Options = Partial<ConsoleOptions> & { receiving?: Partial<ReceiverOptions> };

/** The headers of the console's own page. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'https://ops.test' };
export const BASE = 'https://ops.test/ops/webhooks';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A receiver and its console, which is closed after the test. */
export function open({ receiving = {}, ...options }: Options = {}) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const secret = generateSecret();
  const logger = collectingLogger();
  const deadLetters = memoryDeadLetters();
  const receiver = createReceiver({
    secret: [{ id: 'blue', secret }],
    on: { 'call:completed': () => undefined, 'call:started': () => undefined },
    logger,
    ...receiving,
    deadLetter: deadLetters,
  });
  const console = createConsole({
    receiver,
    deadLetters,
    authorize: () => ({ name: 'Ada' }),
    path: '/ops/webhooks',
    logger,
    now,
    ...options,
  });
  closing.push(
    () => console.close(),
    () => receiver.close({ graceMs: 0 }),
  );

  const ask = (path: string, init: RequestInit = {}) =>
    console.fetch(new Request(`${BASE}${path}`, init));
  const get = async <T>(path: string): Promise<T> => (await ask(path)).json() as Promise<T>;
  const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const { csrfToken } = await get<Session>('/api/session');
    const own = { ...OWN_PAGE, 'content-type': 'application/json' };
    return ask(path, {
      method: 'POST',
      headers: { ...own, 'x-call-webhooks-csrf': csrfToken, ...headers },
      body: JSON.stringify(body),
    });
  };
  const post = async <T>(path: string, body: unknown = {}): Promise<T> =>
    (await send(path, body)).json() as Promise<T>;
  const deliver = async (body: string, headers: Record<string, string> = {}) => {
    const bytes = new TextEncoder().encode(body);
    const signed = await sign({ secret, body: bytes });
    const request = { method: 'POST', headers: { ...signed, ...headers }, body: bytes };
    return (await receiver.receive(request)).outcome.outcome;
  };
  return { clock, secret, logger, deadLetters, receiver, console, ask, get, send, post, deliver };
}

export { callBody, recordingBody };
