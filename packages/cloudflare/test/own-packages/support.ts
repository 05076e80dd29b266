import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Store } from '@call-webhooks/core';
import type { EventState } from '@call-webhooks/core/stores';
import { build } from 'esbuild';

/** The compatibility date of all Workers here. The README names it as the oldest. */
export const COMPATIBILITY_DATE = '2025-06-01';

const WORKERS = fileURLToPath(new URL('workers/', import.meta.url));

/**
 * Bundles a Worker of `workers`.
 * @returns its code
 */
export const bundled = (name: string) =>
  bundledCode(`export * from './${name}.ts';
export { default } from './${name}.ts';`);

/**
 * Bundles a Worker with the sources of the packages, and with the conditions that wrangler uses.
 * @param contents of its main module, in `workers`
 * @returns its code
 */
export async function bundledCode(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: WORKERS, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    conditions: ['@call-webhooks/source', 'workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

/** A folder of its own. */
export async function freshFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-cloudflare-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Posts a value as JSON, on a connection of its own: workerd may just have closed an idle one.
 * @returns the parsed response
 * @throws Error with the response, unless its status is 200
 */
export function postJson(url: string, value: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent: false });
    outgoing.on('error', reject).on('response', (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(JSON.parse(body));
        else reject(new Error(body));
      }, reject);
    });
    outgoing.end(JSON.stringify(value));
  });
}

/** Calls a method of the store, or of its object, in a Worker of `store-worker.ts`. */
export async function callStore(url: string, method: string, ...args: unknown[]): Promise<unknown> {
  const { value } = (await postJson(url, { method, args })) as { value?: unknown };
  return value;
}

const METHODS = [
  'admit',
  'complete',
  'release',
  'extend',
  'reopen',
  'forget',
  'loadCursor',
  'saveCursor',
];

/**
 * The store of a Worker of `store-worker.ts`: each call is one of `durableObjectStore` there.
 * @param clockAhead how far the clock of its receiver is ahead; milliseconds
 */
export function storeAt(url: string, clockAhead = () => 0): Store {
  const calls = [...METHODS, 'ping'].map((method) => [
    method,
    async (...args: unknown[]) => {
      const call = { method, args, clockAhead: clockAhead() };
      return ((await postJson(url, call)) as { value?: unknown }).value;
    },
  ]);
  // JSON has no `undefined`.
  const peek: Store['peek'] = async (keys) =>
    ((await callStore(url, 'peek', keys)) as (EventState | null)[]).map((one) => one ?? undefined);
  return { ...(Object.fromEntries(calls) as Store), peek, rememberFor: 86_400_000 };
}
