import { createContext, SourceTextModule, type Module } from 'node:vm';
import { webcrypto } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ActivityEvent, Client, ClientOptions } from '@call-webhooks/client';
import { bundleClient, type Bundle } from '../src/browser-bundle.ts';
import { fillMessages } from '../src/messages.ts';
import { testResources } from '../src/test-resources.ts';

const open = testResources();

/** The globals of web-like runtimes, without those of Node: no process, Buffer or require. */
const web = (): object => ({
  ...{ fetch, Response, Headers, Request, URL, URLSearchParams, AbortController, AbortSignal },
  ...{ ReadableStream, TextDecoder, TextEncoder, setTimeout, clearTimeout, queueMicrotask },
  crypto: webcrypto,
});

type ClientModule = {
  createClient(options: ClientOptions): Client;
  UnsupportedRuntimeError: new (...values: never[]) => Error;
};

/** Runs a bundle in its own context. */
async function load({ files }: Bundle): Promise<ClientModule> {
  const context = createContext(web());
  const modules = new Map<string, Module>();
  const moduleOf = (name: string): Module => {
    const known = modules.get(name);
    if (known) return known;
    const source = files.get(name.replace('./', ''));
    if (source === undefined) throw new Error(`the bundle has no ${name}`);
    const module = new SourceTextModule(source, {
      context,
      identifier: name,
      importModuleDynamically: async (later) => {
        const loaded = moduleOf(later);
        if (loaded.status === 'unlinked') await loaded.link(moduleOf);
        await loaded.evaluate();
        return loaded;
      },
    });
    modules.set(name, module);
    return module;
  };
  const entry = moduleOf('./client.js');
  await entry.link(moduleOf);
  await entry.evaluate();
  return entry.namespace as ClientModule;
}

describe.each([[['browser']], [['workerd', 'worker', 'browser']], [['edge-light']]])(
  'bundled under the conditions %j',
  (conditions) => {
    let bundle: Bundle;
    beforeAll(async () => {
      bundle = await bundleClient(conditions);
    });

    test('contains only sources of the client, and loads file access on demand', () => {
      const inputs = Object.keys(bundle.metafile.inputs);
      const foreign = inputs.filter((path) => !/(^|\/)client\/src\/|client\.js$/.test(path));
      expect(foreign).toEqual([]);
      const entry = Object.entries(bundle.metafile.outputs).find(([path]) =>
        path.endsWith('/client.js'),
      );
      const atOnce = [
        ...Object.keys(entry![1].inputs),
        ...entry![1].imports
          .filter(({ kind }) => kind === 'import-statement')
          .flatMap(({ path }) => Object.keys(bundle.metafile.outputs[path]?.inputs ?? {})),
      ];
      expect(atOnce.some((path) => path.includes('/recordings/recording.ts'))).toBe(true);
      expect(atOnce.filter((path) => path.includes('/save/'))).toEqual([]);
      for (const text of bundle.files.values())
        expect(text).not.toMatch(/(?:from|import|require\()\s*["']node:/);
    });

    test('lists events, reads a recording and reports that files are not supported', async () => {
      const { createClient, UnsupportedRuntimeError } = await load(bundle);
      const simulator = await open.simulator({ pageSize: 10 });
      fillMessages(simulator, 25);
      const { _id } = simulator.calls.place({ durationSeconds: 1 });
      await simulator.clock.advance('10s');
      const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
      const events: ActivityEvent[] = [];
      for await (const event of client.events.iterate({ search: 'type:opened' }))
        events.push(event);
      expect(events).toHaveLength(25);
      const recording = await client.calls.recording(_id);
      const bytes = await new Response(recording.body).arrayBuffer();
      expect(bytes.byteLength).toBe(recording.contentLength);
      const saving = (await client.calls.recording(_id)).saveTo('call.wav');
      await expect(saving).rejects.toBeInstanceOf(UnsupportedRuntimeError);
    });
  },
);
