import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { sign } from '../src/index.ts';
import { OTHER_SECRET, SECRET, STARTED } from './support.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
/** The conditions that the bundlers of Next's edge runtime, of Workers and of browsers set. */
const EDGE = [['edge-light', 'worker', 'browser'], ['workerd', 'worker', 'browser'], ['browser']];

/** The receiver of `./web` for a runtime with these conditions, in one text, and what is in it. */
async function bundle(conditions: string[], minify = false) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    stdin: { contents: `export * from '@call-webhooks/core/web'`, resolveDir: here },
    bundle: true,
    minify,
    write: false,
    metafile: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@call-webhooks/source', ...conditions],
    format: 'iife',
    globalName: 'web',
    external: ['node:*'],
  });
  const inputs = Object.keys(metafile.inputs);
  const builtins = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path }) => path.startsWith('node:'))
    .map(({ path }) => path);
  return { script: outputFiles[0]!.text, inputs, builtins };
}

/** What edge runtimes have, and nothing of Node. Workers forbid random values and timers at import. */
const webGlobals = () => {
  const state = { importing: true };
  const guard =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args) => {
      if (state.importing) throw new Error('not at import');
      return call(...args);
    };
  const { AbortController, DOMException, Headers, Request, Response, TextDecoder, TextEncoder } =
    globalThis;
  const { atob, btoa, clearTimeout, performance, Uint8Array } = globalThis;
  const { subtle } = globalThis.crypto;
  const getRandomValues = guard((numbers: Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>) =>
    globalThis.crypto.getRandomValues(numbers),
  );
  const timers: ReturnType<typeof globalThis.setTimeout>[] = [];
  const setTimeout = guard((wake: () => void, ms: number) => {
    const timer = globalThis.setTimeout(wake, ms);
    timers.push(timer);
    return timer;
  });
  /** A request is over: its timers never fire. */
  const endRequest = () => {
    for (const timer of timers.splice(0)) globalThis.clearTimeout(timer);
  };
  const console = { warn: () => undefined, error: () => undefined };
  const context = createContext({
    ...{ AbortController, DOMException, Headers, Request, Response, TextDecoder, TextEncoder },
    ...{ atob, btoa, clearTimeout, performance, setTimeout, Uint8Array, console },
    crypto: { subtle, getRandomValues },
  });
  return { context, state, endRequest };
};

describe.each(EDGE)('under the conditions of %s', (...conditions) => {
  it('#platform of the built package is the WebCrypto file, in ESM and in CommonJS', async () => {
    const flags = conditions.map((condition) => `--conditions=${condition}`);
    const script = `console.log(import.meta.resolve('#platform'))`;
    const node = [...flags, '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: here });
    expect(stdout).toMatch(/\/dist\/bundle\/platform\/web\.js$/m);
    const { imports } = JSON.parse(await readFile(`${here}/package.json`, 'utf8')) as {
      imports: Record<string, Record<string, { require: string }>>;
    };
    const [condition = ''] = conditions;
    expect(imports['#platform']?.[condition]?.require).toBe('./dist/bundle/platform/web.cjs');
  });

  it('./web contains nothing of Node, and handles deliveries without it', async () => {
    const { script, inputs, builtins } = await bundle(conditions);
    expect(inputs.filter((path) => path.includes('src/platform/'))).toEqual([
      expect.stringContaining('platform/web.ts'),
    ]);
    expect(builtins).toEqual([]);
    expect(inputs.filter((path) => path.includes('/raw-body/'))).toEqual([]);

    const { context, state, endRequest } = webGlobals();
    runInContext(`${script}; globalThis.web = web`, context);
    state.importing = false;
    const { createWebHandler } = context['web'] as typeof import('../src/web.ts');
    const seen: unknown[] = [];
    const hook = createWebHandler({
      secret: SECRET,
      ackWithin: 50,
      on: {
        'call:started': (event) => seen.push(event.callId),
        'call:completed': () => new Promise(() => undefined),
      },
    });
    const post = async (headers: Record<string, string>, body: string) => {
      const response = await hook(new Request('http://x/hook', { method: 'POST', body, headers }));
      endRequest();
      return ((await response.json()) as { outcome: string }).outcome;
    };
    const body = JSON.stringify({ ...STARTED, note: 'Zoë' });
    const headers = await sign({ secret: SECRET, body });
    expect(await post(headers, body)).toBe('handled');
    expect(await post(headers, body)).toBe('replayed');
    expect(await post(await sign({ secret: SECRET, body }), body)).toBe('duplicate');
    expect(await post(await sign({ secret: OTHER_SECRET, body }), body)).toBe('signature-mismatch');
    expect(seen).toEqual(['call-1']);
    // A deadline holds although the timers of the requests before it ended with them.
    const slow = JSON.stringify({ ...STARTED, eventName: 'call:completed' });
    expect(await post(await sign({ secret: SECRET, body: slow }), slow)).toBe('deadline');
  });
});

it('without such a condition #platform is node:crypto', async () => {
  const { inputs, builtins } = await bundle([]);
  const hmac = inputs.filter((path) => path.includes('src/platform/'));
  expect(hmac).toContainEqual(expect.stringContaining('platform/node.ts'));
  expect(hmac).not.toContainEqual(expect.stringContaining('platform/web.ts'));
  expect(builtins).toContain('node:crypto');
});

it('./web stays small, with all that it needs', async () => {
  const { script } = await bundle(['workerd', 'worker', 'browser'], true);
  expect(gzipSync(script).length).toBeLessThan(53_000);
});

it('#platform can not be imported by users of the package', async () => {
  const { exports } = JSON.parse(await readFile(`${here}/package.json`, 'utf8')) as {
    exports: object;
  };
  expect(Object.keys(exports)).toEqual([
    ...['.', './web', './node', './stores', './internal', './package.json'],
  ]);
});
