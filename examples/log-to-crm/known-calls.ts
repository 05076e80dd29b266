import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is known about a call so far. Each of the two events adds its half, in either order. */
export interface KnownCall {
  /** From `call:completed`. */
  readonly call?: {
    readonly placedBy?: string;
    readonly number?: string;
    readonly endedAt?: string;
  };
  /** From `call:recording-available`. */
  readonly recording?: { readonly file: string; readonly seconds: number | undefined };
  /** What the CRM has already stored. */
  readonly inCrm?: string;
}

/** Exclusive access to one call. */
export interface OpenCall {
  readonly known: KnownCall;
  /** Adds to what is known. It is on disk when the promise resolves. */
  keep(more: KnownCall): Promise<KnownCall>;
}

/** Calls as JSON files in a folder, one file per call. They survive a restart. */
export interface KnownCalls {
  /** Runs a function with exclusive access to one call. Others wait for their turn. */
  open<T>(callId: string, work: (call: OpenCall) => Promise<T>): Promise<T>;
}

export async function knownCalls(folder: string): Promise<KnownCalls> {
  await mkdir(folder, { recursive: true });
  const turns = new Map<string, Promise<unknown>>();

  async function openFile(callId: string): Promise<OpenCall> {
    const path = join(folder, `${encodeURIComponent(callId)}.json`);
    let known = await read(path);
    return {
      get known() {
        return known;
      },
      async keep(more) {
        known = { ...known, ...more };
        await write(path, JSON.stringify(known));
        return known;
      },
    };
  }

  return {
    open(callId, work) {
      const before = turns.get(callId) ?? Promise.resolve();
      const mine = before.catch(() => undefined).then(async () => work(await openFile(callId)));
      turns.set(callId, mine);
      return mine.finally(() => {
        if (turns.get(callId) === mine) turns.delete(callId);
      });
    },
  };
}

async function read(path: string): Promise<KnownCall> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as KnownCall;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Writes a temporary file and renames it: after a crash, there is either the old file or the new one. */
async function write(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}
