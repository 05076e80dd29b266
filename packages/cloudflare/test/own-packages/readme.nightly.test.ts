import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { callBody, startSender, waitFor } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { Miniflare } from 'miniflare';
import { parseConfigFileTextToJson } from 'typescript';
import { bundledCode } from './support.ts';

/** The configuration of a Worker, as far as the README has it. */
interface Config {
  compatibility_date: string;
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { new_sqlite_classes: string[] }[];
  queues: {
    producers: { binding: string; queue: string }[];
    consumers: {
      queue: string;
      max_batch_size: number;
      max_retries: number;
      dead_letter_queue: string;
    }[];
  };
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const block = (language: string) =>
  new RegExp('```' + language + '\n([^]*?)```').exec(readme)?.[1] ?? '';
const secret = generateSecret();
const printed: string[] = [];
let miniflare: Miniflare;

/** Starts the sample of the README with its configuration. */
beforeAll(async () => {
  const { config } = parseConfigFileTextToJson('wrangler.jsonc', block('jsonc')) as {
    config: Config;
  };
  const sqliteClasses = config.migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes);
  miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'index.mjs', contents: await bundledCode(block('ts')) }],
    compatibilityDate: config.compatibility_date,
    bindings: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() },
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name, class_name }) => [
        name,
        { className: class_name, useSQLite: sqliteClasses.includes(class_name) },
      ]),
    ),
    queueProducers: Object.fromEntries(
      config.queues.producers.map(({ binding, queue }) => [binding, queue]),
    ),
    queueConsumers: Object.fromEntries(
      config.queues.consumers.map((consumer) => [
        consumer.queue,
        {
          maxBatchSize: consumer.max_batch_size,
          maxBatchTimeout: 0,
          maxRetries: consumer.max_retries,
          deadLetterQueue: consumer.dead_letter_queue,
        },
      ]),
    ),
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      for (const stream of [stdout, stderr])
        createInterface(stream).on('line', (line) => printed.push(line));
    },
  });
  await miniflare.ready;
});
afterAll(() => miniflare.dispose());

it('the sample receives, queues and handles a call once', async () => {
  const sender = startSender(new URL('/hook', await miniflare.ready).href, secret);
  // A busy machine may take longer than storeTimeout, and then gives 503.
  let calls = 0;
  const isQueued = async () => {
    const { outcome } = await sender.post(callBody(`call-${String(++calls)}`));
    return outcome === 'queued';
  };
  await waitFor(isQueued);
  const callId = `call-${String(calls)}`;
  await waitFor(() => printed.includes(callId));
  await waitFor(async () => (await sender.post(callBody(callId))).outcome === 'duplicate');
  expect(printed.filter((line) => line === callId)).toHaveLength(1);
  expect((await sender.raw(callBody(callId))).status).toBe(401);
});
