import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import * as client from '@call-webhooks/client';
import { generateSecret } from '@call-webhooks/core';
import * as node from '@call-webhooks/core/node';
import { serveLocally } from '@call-webhooks/contract-tests';
import { testResources } from '../test-resources.ts';

const open = testResources();
const pageOf = (name: string) =>
  fileURLToPath(new URL(`../../../../../docs/${name}.md`, import.meta.url));
const modules: Readonly<Record<string, unknown>> = {
  '@call-webhooks/client': client,
  '@call-webhooks/core/node': node,
};

interface Sample {
  handler: node.NodeHandler;
  addAndRotate?(
    ruleId: string,
    actionIdOf: (response: { _id: string }) => string,
    url: string,
  ): Promise<void>;
}

/** Runs the sample with this name from a page. */
async function runSample(
  page: string,
  name: string,
  env: Readonly<Record<string, string>>,
  replace: (source: string) => string = (source) => source,
): Promise<Sample> {
  const text = await readFile(pageOf(page), 'utf8');
  const source = new RegExp(`\`\`\`js ${name}\\n([^]*?)\`\`\``).exec(text)?.[1];
  if (source === undefined) throw new Error(`${page} has no sample ${name}`);
  const code = ts.transpile(replace(source), { module: ts.ModuleKind.CommonJS });
  const exports = {} as Sample;
  const parts = { exports, require: (id: string) => modules[id], process: { env } };
  const quiet = { log: () => undefined };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- our own page
  const run = new Function(...Object.keys(parts), 'console', code) as (...all: unknown[]) => void;
  run(...Object.values(parts), quiet);
  return exports;
}

async function serve({ handler }: Sample): Promise<string> {
  const server = open.add(
    await serveLocally((request, response) => void handler(request, response)),
  );
  open.add({ close: () => handler.receiver.close() });
  return `${server.origin}/hook`;
}

test('the recording sample downloads a recording', async () => {
  const simulator = await open.simulator();
  const folder = await open.folder();
  const secret = generateSecret();
  const sample = await runSample(
    'rest-client',
    'recording',
    {
      SERVICE_URL: simulator.url,
      API_TOKEN: simulator.apiToken,
      CALL_WEBHOOK_SECRET: generateSecret(),
      RECORDING_WEBHOOK_SECRET: secret,
    },
    (source) => source.replace('saveTo(`', `saveTo(\`${folder}/`),
  );
  simulator.rules.setRecordingWebhook({ url: await serve(sample), secret });
  const { _id } = simulator.calls.place({ durationSeconds: 5 });
  await simulator.clock.runUntilIdle();
  expect(simulator.events.counts()).toEqual({ acknowledged: 1 });
  expect(await readdir(folder)).toEqual([`${_id}.audio`]);
});

test('the rotation sample accepts deliveries signed with the new secret', async () => {
  const simulator = await open.simulator();
  const env = { SERVICE_URL: simulator.url, API_TOKEN: simulator.apiToken };
  const sample = await runSample('secrets', 'rotation', env);
  const { _id } = simulator.rules.create({ trigger: 'call:completed' });
  await sample.addAndRotate!(_id, (response) => response._id, await serve(sample));
  expect(simulator.secrets.get(simulator.rules.get(_id).actions[0]!._id)?.rotations).toBe(1);
  simulator.calls.place({ recorded: false });
  await simulator.clock.runUntilIdle();
  expect(simulator.events.counts()).toEqual({ acknowledged: 1 });
});
