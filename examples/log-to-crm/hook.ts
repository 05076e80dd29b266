import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recordings } from '@call-webhooks/client';
import { callWebhooks, type HandlerContext, type Secret } from '@call-webhooks/express';
import { postgresStore } from '@call-webhooks/postgres';
import type { Crm, CrmEntry } from './crm-client.ts';
import type { Database, Sql } from './database.ts';

/** How long a process that is killed in a handler keeps others from its call; milliseconds. */
export const LEASE_MS = 5_000;

export interface Parts {
  readonly secret: Secret;
  readonly database: Database;
  readonly crm: Crm;
  readonly recordings: Pick<Recordings, 'fromEvent'>;
  /** The folder for recordings. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** What the database knows about a call. */
interface KnownCall {
  readonly call: Omit<CrmEntry, 'recording'> | null;
  readonly recording: NonNullable<CrmEntry['recording']> | null;
}

/** The receiver. Its handlers may be killed anywhere, and run in any order and more than once. */
export async function createHook({ secret, database, crm, recordings, folder, say }: Parts) {
  const store = postgresStore(database);
  await store.migrate();
  await mkdir(folder, { recursive: true });

  /** Only a complete recording gets its final file name, so a file shows that its download is done. */
  async function download(callId: string, recordingUrl: string | undefined): Promise<string> {
    const file = join(folder, `${encodeURIComponent(callId)}.wav`);
    if (await exists(file)) return file;
    const recording = await recordings.fromEvent({ callId, recordingUrl });
    // Not tied to context.signal: the download continues after the deadline, and the next delivery
    // finds its file.
    const { bytes } = await recording.saveTo(file);
    say(`downloaded the recording of ${callId}: ${String(bytes)} bytes`);
    return file;
  }

  /**
   * Adds what an event tells about a call. The CRM comes first: if it fails, the event is not done,
   * and is retried. Its entry may be written twice. What `write` does happens once.
   */
  async function add(
    callId: string,
    news: Partial<KnownCall>,
    write: (tx: Sql) => Promise<unknown>,
    { completeIn }: HandlerContext,
  ): Promise<void> {
    const text = 'SELECT call, recording FROM calls WHERE id = $1';
    const { rows } = await database.query(text, [callId]);
    const known = { call: null, recording: null, ...(rows[0] as KnownCall | undefined) };
    const { call, recording } = { ...known, ...news };
    // A recording often arrives before its call. The entry is created with the call.
    if (call) await crm.putCall(callId, { ...call, recording: recording ?? undefined });
    await database.transaction(async (tx) => {
      await write(tx);
      await completeIn(tx);
    });
    if (call) say(`logged ${callId}, ${recording ? 'with its recording' : 'without a recording'}`);
  }

  return callWebhooks({
    secret,
    store,
    // No two events of a call run at once, so what was read is still true when it is written.
    oneAtATime: true,
    leaseFor: LEASE_MS,
    on: {
      'call:completed': async ({ callId }, context) => {
        // Without a callId, there is nothing to join by.
        if (callId === undefined) return;
        const { placedBy, calledNumber: number, endedAt } = context.call;
        const call = { placedBy, number, endedAt: endedAt?.toISOString() };
        const write = async (tx: Sql) => {
          await tx.query(
            `INSERT INTO calls (id, call) VALUES ($1, $2)
             ON CONFLICT (id) DO UPDATE SET call = excluded.call`,
            [callId, JSON.stringify(call)],
          );
          await tx.query(
            `INSERT INTO call_counts (user_id, calls) VALUES ($1, 1)
             ON CONFLICT (user_id) DO UPDATE SET calls = call_counts.calls + 1`,
            [placedBy ?? 'unknown'],
          );
        };
        await add(callId, { call }, write, context);
      },
      'call:recording-available': async (event, context) => {
        const { callId, recordingUrl, recordingDurationSeconds: seconds } = event;
        if (callId === undefined) return;
        const file = await download(callId, recordingUrl);
        const recording = { file, seconds };
        const write = (tx: Sql) =>
          tx.query(
            `INSERT INTO calls (id, recording) VALUES ($1, $2)
             ON CONFLICT (id) DO UPDATE SET recording = excluded.recording`,
            [callId, JSON.stringify(recording)],
          );
        await add(callId, { recording }, write, context);
      },
    },
  });
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
