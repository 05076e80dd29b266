import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import Database from 'libsql';
import { createClient, systemClock } from '@call-webhooks/client';
import { waitFor } from '@call-webhooks/contract-tests';
import {
  memoryStore,
  type CallCompletedEvent,
  type CallStartedEvent,
  type ReceiverOptions,
  type Store,
} from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { signedRequest, TEST_SECRET } from '@call-webhooks/testing';
import { createConsole, type ConsoleAction } from '../../src/index.ts';

export interface ReceiverInput {
  /** Where the store is; a file of its own by default. */
  file?: string;
  readOnly?: boolean;
  /** Whether the person may change anything; `true` by default. */
  canWrite?: boolean;
  /** Keeps the store in memory, as if it had begun this long ago; milliseconds. */
  memoryFor?: number;
  /** How often a handler may fail; 1 by default. */
  maxAttempts?: number;
  withoutDeadLetters?: boolean;
  withoutLog?: boolean;
  /** The service to reconcile with. */
  service?: { baseUrl: string; apiToken: string };
  signIn?: string | undefined;
  /** Of the app. */
  version?: string;
  /** That of `signedRequest` by default, with the id `current`. */
  secret?: ReceiverOptions['secret'];
  /** How long a delivery may take; milliseconds, 20,000 by default. */
  ackWithin?: number;
  /** Whether the last part of the path is a tenant; the reconciled one is `acme`. */
  tenants?: boolean;
}

/** What a receiver does from now on. */
interface Orders {
  /** Handlers fail, with this error if it is a text. */
  broken: boolean | string;
  /** Whether the person may see the console. */
  allowed: boolean;
  /** Handlers wait until this is `false`. */
  held: boolean;
}

/** A receiver with its console. Its store and its dead letters are in a file that survives it. */
export interface RunningReceiver {
  /** Where the console is. */
  readonly url: string;
  /** Where its store is. Another receiver can share it. */
  readonly file: string;
  readonly store: Store;
  /** What was logged of changes in the console. */
  readonly logged: readonly ConsoleAction[];
  /** Sends a signed delivery. @param tenant whose it is @returns the status */
  deliver(
    event: object,
    options?: Parameters<typeof signedRequest>[1],
    tenant?: string,
  ): Promise<number>;
  tell(orders: Partial<Orders>): void;
  /** Waits until so many handlers wait. */
  holds(handlers: number): Promise<void>;
  /** Waits until the log has the outcomes of so many deliveries, which are written once a second. */
  written(deliveries: number): Promise<void>;
  /** Lets the console think that it is so much later, so that it keeps no answer; milliseconds. */
  later(ms: number): void;
  /** Ends it as its process would end: connections are cut, and handlers that wait go on waiting. */
  stop(): Promise<void>;
  /** Starts another one, at the same port and with the same file. */
  start(): Promise<void>;
  close(): Promise<void>;
}

function memoryFor(ms: number) {
  let behind = ms;
  const memory = memoryStore({ now: () => Date.now() - behind });
  behind = 0;
  return memory;
}

/** Starts one on a free port. */
export async function startReceiver(input: ReceiverInput = {}): Promise<RunningReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-console-'));
  const { file = join(folder, 'calls.db') } = input;
  const db = new Database(file);
  const now: Orders = { broken: false, allowed: true, held: false };
  const logged: ConsoleAction[] = [];
  const held: (() => void)[] = [];
  const closing: (() => Promise<void>)[] = [];
  const kept: Store = input.memoryFor === undefined ? sqliteStore(db) : memoryFor(input.memoryFor);
  const store: Store = input.withoutLog ? { ...kept, log: undefined } : kept;
  let ahead = 0;
  let port = 0;
  let server: Server;

  async function handle(event: CallCompletedEvent | CallStartedEvent): Promise<void> {
    if (now.held) await new Promise<void>((go) => held.push(go));
    const error = `The CRM refused ${event.eventName}: <b>no such contact</b>`;
    if (now.broken) throw new Error(now.broken === true ? error : now.broken);
  }

  function app() {
    const deadLetters = sqliteDeadLetters(db);
    const hook = callWebhooks({
      secret: input.tenants
        ? () => ({ id: 'current', secret: TEST_SECRET })
        : (input.secret ?? { id: 'current', secret: TEST_SECRET }),
      tenant: input.tenants ? ({ path }) => path.split('/').at(-1) : undefined,
      store,
      deadLetter: deadLetters,
      maxAttempts: input.maxAttempts ?? 1,
      version: input.version,
      ackWithin: input.ackWithin,
      logger: { warn: () => undefined, error: () => undefined },
      on: { 'call:started': handle, 'call:completed': handle },
    });
    const ops = createConsole({
      receiver: hook.receiver,
      ...(!input.withoutDeadLetters && { deadLetters, redrive: { concurrency: 1 } }),
      ...(input.service && {
        reconcile: {
          client: createClient(input.service),
          ...(input.tenants && { tenant: 'acme' }),
        },
      }),
      readOnly: input.readOnly ?? false,
      signIn: input.signIn,
      authorize: () => now.allowed && { name: 'Ada <Ops>', canWrite: input.canWrite ?? true },
      onAction: (action) => logged.push(action),
      clock: { ...systemClock, now: () => Date.now() + ahead },
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    closing.push(
      () => ops.close(),
      () => hook.receiver.close({ graceMs: 0 }),
    );
    return express().all(['/hook', '/hook/:tenant'], hook).use('/ops/webhooks', ops);
  }

  async function start(): Promise<void> {
    server = createServer(app()).listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }

  async function stop(): Promise<void> {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  function tell(orders: Partial<Orders>): void {
    Object.assign(now, orders);
    if (!now.held) for (const go of held.splice(0)) go();
  }

  await start();
  const origin = `http://127.0.0.1:${String(port)}`;
  return {
    url: `${origin}/ops/webhooks`,
    ...{ file, store, logged },
    async deliver(event, signing, tenant) {
      const { headers, body } = await signedRequest(event, { secret: TEST_SECRET, ...signing });
      return (
        await fetch(`${origin}/hook${tenant === undefined ? '' : `/${tenant}`}`, {
          method: 'POST',
          headers,
          body,
        })
      ).status;
    },
    tell,
    holds: (handlers) => waitFor(() => held.length >= handlers),
    async written(deliveries) {
      await waitFor(async () => ((await store.log?.read())?.rows.length ?? 0) >= deliveries);
    },
    later(ms) {
      ahead += ms;
    },
    stop,
    start,
    async close() {
      tell({ held: false });
      await stop();
      for (const close of closing) await close();
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
