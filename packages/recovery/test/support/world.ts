import { afterEach } from '@jest/globals';
import {
  createClient,
  systemClock,
  type Client,
  type ClientOptions,
  type Clock,
} from '@call-webhooks/client';
import {
  createReceiver,
  type HandlerContext,
  type Receiver,
  type ReceiverOptions,
} from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import { startSimulator, type Simulator, type SimulatorOptions } from '@call-webhooks/simulator';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const STARTED_AT = Date.UTC(2026, 0, 31, 12);

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** The service, a client of it, and a receiver that a rule sends `call:completed` to. */
export interface World {
  readonly simulator: Simulator;
  readonly client: Client;
  readonly receiver: Receiver;
  readonly ruleId: string;
  /** The `callId` and the source of each run of the handler. */
  readonly runs: { callId: string; source: HandlerContext['source'] }[];
  /** Makes the handler throw for calls. */
  readonly failing: Set<string>;
  /** Requests of the client. */
  readonly requests: string[];
  readonly log: ReturnType<typeof collectingLogger>;
  now(): number;
  /** Shows the time of the simulator. Its timers are those of the machine. */
  readonly clock: Clock;
  /** Places calls of 20 seconds, a minute apart, and lets everything about them happen. */
  place(count: number): Promise<string[]>;
}

interface WorldOptions {
  simulator?: SimulatorOptions;
  client?: Partial<ClientOptions>;
  receiver?: Partial<ReceiverOptions>;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const simulator = await startSimulator({
    clock: 'manual',
    seed: 1,
    startAt: STARTED_AT,
    timestamps: 'clock',
    pageSize: 10,
    ...options.simulator,
  });
  open.push(() => simulator.close());
  const now = () => simulator.clock.now();
  const log = collectingLogger();
  const runs: World['runs'] = [];
  const failing = new Set<string>();
  const receiver = createReceiver({
    secret: () => simulator.secrets.all(),
    now,
    logger: log,
    on: {
      'call:completed': ({ callId }, { source }) => {
        runs.push({ callId: String(callId), source });
        if (failing.has(String(callId))) throw new Error('the CRM is down');
      },
    },
    ...options.receiver,
  });
  open.push(() => receiver.close());
  const handle = nodeHandler(receiver);
  const served = await serveLocally((request, response) => void handle(request, response));
  open.push(served.close);
  const { _id: ruleId } = simulator.rules.create({
    trigger: 'call:completed',
    scope: 'workspace',
    actions: [{ url: `${served.origin}/hook` }],
  });
  await simulator.clock.advance('10m'); // the store knows nothing from before
  const requests: string[] = [];
  const client = createClient({
    baseUrl: simulator.url,
    apiToken: simulator.apiToken,
    onRequest: ({ url }) => void requests.push(url),
    ...options.client,
  });
  return {
    ...{
      simulator,
      client,
      receiver,
      ruleId,
      runs,
      failing,
      requests,
      log,
      now,
      clock: { ...systemClock, now },
    },
    async place(count) {
      const ids: string[] = [];
      for (let made = 0; made < count; made++) {
        ids.push(simulator.calls.place({ durationSeconds: 20, recorded: made % 2 === 0 })._id);
        await simulator.clock.advance('1m');
      }
      return ids;
    },
  };
}

/** Closed when the test ends. */
export function closeLater<Closable extends { close(): unknown }>(closable: Closable): Closable {
  open.push(() => closable.close());
  return closable;
}
