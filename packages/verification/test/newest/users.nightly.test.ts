import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { newestNode, pack } from '@call-webhooks/contract-tests';

// What our packages are used with, in its newest major versions, on Node 24. The hosts of
// packages/verification/test/hosts, packages/next and packages/adapters have tests of their own, and
// `npm run test:newest` runs the tests of adapters and stores with the newest frameworks and clients.

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A project of a user with packed packages of ours and the newest of others. */
async function project(ours: readonly string[], others: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-newest-'));
  folders.push(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const node = await newestNode();
  const { NODE_OPTIONS: _jest, ...rest } = process.env;
  const env = {
    ...rest,
    PATH: `${dirname(node)}${delimiter}${String(rest['PATH'])}`,
    CI: 'true',
    NO_COLOR: '1',
  };
  const run = async (command: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env }).catch(
      (failed: unknown) => {
        const { stdout: out, stderr } = failed as { stdout: string; stderr: string };
        throw new Error(`${command} ${args.join(' ')} failed:\n${out}${stderr}`);
      },
    );
    return stdout;
  };
  const packed: string[] = [];
  for (const name of ours) packed.push(await pack(name, folder));
  const newest = others.map((name) => (/.@/.test(name) ? name : `${name}@latest`));
  await run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...newest, ...packed);
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  return { run, write, node };
}

/** The first program of a README. */
async function sampleOf(readme: string): Promise<string> {
  const text = await readFile(join(ROOT, readme), 'utf8');
  return /^```ts\n([^]*?)^```/m.exec(text)?.[1] ?? '';
}

it('Nest: a delivery reaches a decorated method on both platforms, and the app closes', async () => {
  const platforms = ['@nestjs/platform-express', '@nestjs/platform-fastify'];
  const others = ['@nestjs/common', '@nestjs/core', ...platforms, 'reflect-metadata', 'rxjs'];
  const { run, write, node } = await project(['core', 'nest', 'client', 'testing'], others);
  await write(
    'app.mjs',
    `
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { CallWebhooksModule, OnCallEvent } from '@call-webhooks/nest';
import { callCompleted, deliver, TEST_SECRET } from '@call-webhooks/testing';
class Handlers { onCompleted() { console.log('ran'); } }
const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, 'onCompleted');
OnCallEvent('call:completed')(Handlers.prototype, 'onCompleted', descriptor);
class App {}
for (const adapter of [new ExpressAdapter(), new FastifyAdapter()]) {
  const imported = CallWebhooksModule.forRoot({ path: '/hook', secret: TEST_SECRET });
  const module = { module: App, imports: [imported], providers: [Handlers] };
  const app = await NestFactory.create(module, adapter, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  console.log((await deliver(app, callCompleted())).outcome);
  await app.close();
}`,
  );
  expect(await run(node, 'app.mjs')).toBe('ran\nhandled\nran\nhandled\n');
});

it('Vitest: the test of the README of the test kit passes', async () => {
  const { run, write, node } = await project(['core', 'client', 'testing'], ['vitest']);
  await write('hook.test.ts', await sampleOf('packages/testing/README.md'));
  expect(await run(node, 'node_modules/vitest/vitest.mjs', 'run')).toMatch(/Tests +1 passed/);
});

it('the SDK of OpenTelemetry: spans and metrics of a delivery arrive', async () => {
  const sdk = ['@opentelemetry/api', '@opentelemetry/sdk-trace', '@opentelemetry/sdk-metrics'];
  const { run, write, node } = await project(['core', 'opentelemetry', 'client', 'testing'], sdk);
  await write(
    'traced.mjs',
    `
import { MeterProvider, InMemoryMetricExporter, PeriodicExportingMetricReader, AggregationTemporality } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createReceiver } from '@call-webhooks/core';
import { instrument } from '@call-webhooks/opentelemetry';
import { callCompleted, deliver, TEST_SECRET } from '@call-webhooks/testing';
const spans = new InMemorySpanExporter();
const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] });
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter });
const meterProvider = new MeterProvider({ readers: [reader] });
const { around } = instrument({ tracerProvider, meterProvider });
const on = { 'call:completed': () => undefined };
const receiver = createReceiver({ secret: TEST_SECRET, around, on });
await deliver(receiver, callCompleted());
await meterProvider.forceFlush();
console.log(spans.getFinishedSpans().map(({ name }) => name.split(' ')[0]).sort().join());
const names = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
  .flatMap(({ metrics }) => metrics).map(({ descriptor }) => descriptor.name);
console.log(names.includes('call_webhooks.deliveries'));
await meterProvider.shutdown();`,
  );
  expect(await run(node, 'traced.mjs')).toMatch(/handle,receive.*\ntrue\n$/);
});

it('TypeScript: the program of the README compiles, with the types of our packages checked', async () => {
  const ours = ['core', 'express', 'fastify', 'adapters', 'nest', 'next', 'client', 'testing'];
  const others = ['express@5', 'fastify', '@types/express', '@types/node', 'typescript'];
  const { run, write, node } = await project(ours, others);
  await write('app.ts', await sampleOf('packages/express/README.md'));
  await write(
    'all.ts',
    `
import { createNodeHandler } from '@call-webhooks/core/node';
import { createWebHandler } from '@call-webhooks/core/web';
import { callWebhooks as inFastify } from '@call-webhooks/fastify';
import { callWebhooks as inKoa } from '@call-webhooks/adapters/koa';
import { callWebhooks as onLambda } from '@call-webhooks/adapters/lambda';
import { createClient } from '@call-webhooks/client';
import { deliver } from '@call-webhooks/testing';
const options = { secret: 'x', on: { 'call:completed': () => undefined } };
export const handlers = [createNodeHandler, createWebHandler, inFastify, inKoa, onLambda];
export const web = createWebHandler({
  ...options,
  // @ts-expect-error the event is typed, not any
  on: { 'call:started': (event) => event.callId satisfies number },
});
export { createClient, deliver };`,
  );
  const flags = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext'];
  const files = ['app.ts', 'all.ts'];
  const types = ['--types', 'node'];
  expect(await run(node, 'node_modules/typescript/bin/tsc', ...flags, ...types, ...files)).toBe('');
});
