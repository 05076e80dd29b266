import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HTTP, type HttpName } from './contenders.ts';
import { signedRequests } from './deliveries.ts';
import { Child } from './processes/child.ts';
import type { Reply } from './processes/messages.ts';
import type { Runner } from './rounds.ts';
import { Sender, type SeenResponse } from './sender.ts';
import type { VerifyName } from './verify.ts';

/** A server under load, and its response to an authentic delivery. */
export interface HttpRunner extends Runner {
  readonly response: SeenResponse;
}

/**
 * @param root the checkout whose packages it uses
 * @param requests how many a turn sends; each is sent once
 * @param connections how many are open at the same time
 */
export async function httpRunner(
  name: HttpName,
  root: string,
  requests: number,
  connections: number,
): Promise<HttpRunner> {
  const { scheme } = HTTP[name];
  const child = await Child.start('http', [name, root]);
  const sender = await Sender.open(child.ready.port as number, connections);
  const [first] = signedRequests(scheme, 1);
  const response = await sender.probe(first as Buffer);
  const usage = async () => (await child.ask({ ask: 'usage' })) as Required<Reply>;
  return {
    response,
    async turn() {
      const batch = signedRequests(scheme, requests);
      const before = await usage();
      await sender.run(batch);
      const after = await usage();
      const handled = after.handled - before.handled;
      if (handled !== requests) throw new Error(`${name} handled ${handled} of ${requests}.`);
      return (after.cpu - before.cpu) / requests;
    },
    async stop() {
      sender.close();
      await child.stop();
    },
  };
}

/**
 * All contenders send the response of our receiver, so that nobody is faster by sending less; except
 * those whose response can't be chosen. (Fastify adds a charset for all of its contenders.)
 * @throws Error that names the contender and its response
 */
export function checkResponse(name: HttpName, { status, body, contentType }: SeenResponse): void {
  if ('ownResponse' in HTTP[name]) return;
  const same =
    status === 200 &&
    body === '{"outcome":"handled"}' &&
    contentType?.startsWith('application/json');
  if (!same) throw new Error(`${name} responds ${JSON.stringify({ status, contentType, body })}.`);
}

/** @param operations how many messages a turn verifies; a multiple of 1,000 */
export async function verifyRunner(
  name: VerifyName,
  root: string,
  operations: number,
): Promise<Runner> {
  const child = await Child.start('verify', [name, root]);
  return {
    turn: async () => (await child.ask({ ask: 'verify', operations })).cpu / operations,
    stop: () => child.stop(),
  };
}

/** A full memory store: each delivery evicts another. */
export interface StoreRunner extends Runner {
  readonly bytesPerId: number;
  delays(seconds: number): Promise<NonNullable<Reply['delays']>>;
}

/** @param size how many webhook ids the store holds, and how many events */
export async function storeRunner(size: number, root: string): Promise<StoreRunner> {
  const operations = 20_000;
  const child = await Child.start('store', [String(size), root], ['--expose-gc']);
  return {
    bytesPerId: child.ready.bytesPerId as number,
    turn: async () => (await child.ask({ ask: 'admit', operations })).cpu / operations,
    delays: async (seconds) =>
      (await child.ask({ ask: 'delays', seconds })).delays as NonNullable<Reply['delays']>,
    stop: () => child.stop(),
  };
}

const importProgram = fileURLToPath(new URL('./processes/import.js', import.meta.url));

/** Imports a module in a new process for each turn. */
export const importRunner = (specifier: string): Runner => ({
  async turn() {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [importProgram, specifier]);
    return Number(stdout);
  },
  stop: () => Promise.resolve(),
});
