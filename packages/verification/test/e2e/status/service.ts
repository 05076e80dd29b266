import { renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { createClient } from '@call-webhooks/client';
import { serveLocally, waitFor } from '@call-webhooks/contract-tests';
import { status, type StatusStore } from '@call-webhooks/recovery';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { STARTED_AT, type testResources } from '../test-resources.ts';
import type { Outside } from './machine.ts';
import { startMachine, type Line } from './start-machine.ts';

const MINUTE = 60_000;

type Resources = ReturnType<typeof testResources>;

/** One request to one of the machines, in turn. */
function forward(
  ports: readonly number[],
  refuse: (path: string) => boolean,
  onAnswer: () => void,
): http.RequestListener {
  let turn = 0;
  return (request, response) => {
    const { method, headers, url: path = '/' } = request;
    if (refuse(path)) {
      response.writeHead(404).end();
      return;
    }
    const port = ports[(turn += 1) % ports.length];
    const options = { host: '127.0.0.1', port, method, headers, path };
    const onward = http.request(options, (answer) => {
      onAnswer();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  };
}

/** The part of the service that belongs to one tenant, whose deliveries it sends. */
export interface Sender {
  readonly simulator: Awaited<ReturnType<Resources['simulator']>>;
  readonly client: ReturnType<typeof createClient>;
  /** Whether a rule of this event is paused. */
  isPaused(eventName: string): boolean;
  rotate(eventName: string): void;
}

/** The store of the machines. */
export interface Engine {
  readonly store: StatusStore;
  /** The program of a machine, and what it has to know of the store. */
  readonly program: string;
  readonly input: object;
  /** Sets the clock of a server; milliseconds since the epoch. */
  setClock?(now: number): Promise<unknown>;
}

async function sqliteEngine(own: Resources, now: () => number): Promise<Engine> {
  const database = join(await own.folder(), 'calls.db');
  const store = sqliteStore(own.add(new Database(database)), { now });
  return { store, program: 'machine.ts', input: { database } };
}

interface ServiceOptions {
  /** Their names; one that is empty without tenants. */
  readonly tenants?: string[];
  readonly hasDeadLetters?: boolean;
  /** A file of SQLite by default. */
  readonly engine?: (now: () => number) => Promise<Engine>;
}

/** The service, a proxy, and two machines that share a store. All have the same clock, which the test moves. */
export async function startService(
  own: Resources,
  {
    tenants = [''],
    hasDeadLetters = false,
    engine = (now) => sqliteEngine(own, now),
  }: ServiceOptions = {},
) {
  const file = join(await own.folder(), 'outside.json');
  const outside: Outside = { now: STARTED_AT, isCrmDown: false };
  const { store, program, setClock, ...given } = await engine(() => outside.now);
  const tell = async () => {
    writeFileSync(`${file}.new`, JSON.stringify(outside));
    renameSync(`${file}.new`, file); // in one step: a machine may read it now
    await setClock?.(outside.now);
  };
  await tell();
  const lines: Line[] = [];
  const gone = new Set<string>();
  const ports: number[] = [];
  /** How many deliveries the machines have answered. */
  let answered = 0;
  const onAnswer = () => (answered += 1);
  const proxy = own.add(await serveLocally(forward(ports, (path) => gone.has(path), onAnswer)));

  const senders = new Map<string, Sender>();
  const secrets: Record<string, string[]> = {};
  for (const [index, tenant] of tenants.entries()) {
    const simulator = await own.simulator({
      timestamps: 'clock',
      patience: 20_000,
      seed: index + 1,
    });
    const url = (event: string) =>
      `${proxy.origin}/hook/${tenant === '' ? 'all' : tenant}/${event}`;
    for (const trigger of ['call:started', 'call:completed'] as const)
      simulator.rules.create({ trigger, scope: 'workspace', actions: [{ url: url(trigger) }] });
    simulator.rules.setRecordingWebhook({ url: url('call:recording-available') });
    const ruleOf = (name: string) => simulator.rules.list().find(({ trigger }) => trigger === name);
    secrets[tenant] = simulator.secrets.all();
    senders.set(tenant, {
      simulator,
      client: createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken }),
      isPaused: (name) => ruleOf(name)?.state === 'paused',
      rotate: (name) => void simulator.secrets.rotate(ruleOf(name)?.actions[0]?._id ?? ''),
    });
  }
  const input = { ...given.input, outside: file, secrets, hasDeadLetters };
  for (let machine = 0; machine < 2; machine++)
    ports.push(await startMachine(own, program, input, lines));

  return {
    store,
    /** Where the machines listen. */
    origins: ports.map((port) => `http://127.0.0.1:${String(port)}`),
    lines,
    outside,
    /** What the proxy answers with 404. */
    gone,
    of: (tenant = '') => senders.get(tenant) as Sender,
    status: () => status({ store }),
    /**
     * Lets minutes pass.
     * @param each called after each minute, until it says `true`
     * @returns how many minutes passed
     */
    async pass(minutes: number, each?: () => Promise<boolean>): Promise<number> {
      for (let minute = 1; minute <= minutes; minute++) {
        outside.now += MINUTE;
        await tell();
        for (const { simulator } of senders.values()) {
          if (minute % 5 === 0) simulator.calls.place({ durationSeconds: 90, recorded: true });
          await simulator.clock.advance(MINUTE);
        }
        if (await each?.()) return minute;
      }
      return minutes;
    },
    /** Until the log has every delivery that the machines have answered. They write it once a second. */
    async settle(): Promise<void> {
      const isWritten = async () => {
        const lastMinute = Math.ceil(outside.now / MINUTE);
        const minutes = await store.log?.counts('minutes', 0, lastMinute, 'outcome/');
        const counts = [...(minutes?.values() ?? [])].flatMap((names) => Object.values(names));
        return counts.reduce((sum, count) => sum + count, 0) >= answered;
      };
      await waitFor(isWritten, { every: 50 });
    },
  };
}
