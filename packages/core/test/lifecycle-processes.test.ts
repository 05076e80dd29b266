import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import { startProgram, type OwnProcess } from '@call-webhooks/contract-tests';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const running: OwnProcess[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});
function start(code: string): OwnProcess {
  const started = startProgram(FOLDER, code);
  running.push(started);
  return started;
}

/** A receiver behind a server, as an app has it; it says when it listens. */
const APP = `
import { createServer } from 'node:http';
import { closeOnSignal } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
const hook = createNodeHandler({ secret: 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u' });
const server = createServer((request, response) => void hook(request, response));
server.listen(0, '127.0.0.1', () => console.log('listening'));
closeOnSignal(hook, { server });
`;
const CLOSED = 'call-webhooks: closed';

it.each([
  ['a process of its own', ''],
  // With a listener, the channel to the parent keeps a process alive.
  ['a child of fork() that listens to its parent', "process.on('message', () => undefined);"],
  ['a child that waits for the end of its parent', "process.on('disconnect', () => undefined);"],
])('%s ends by itself, with 0, once everything is closed', async (_name, listener) => {
  const app = start(APP + listener);
  await app.printed('listening');
  app.child.kill('SIGTERM');
  expect(await app.ended).toMatchObject({ code: 0, signal: null });
  expect((await app.ended).output).toContain(CLOSED);
});

it('no timer is left once the server is closed, so that the process ends at once', async () => {
  const app = start(
    APP.replace('{ server }', '{ server, resources: [alive] }') +
      "function alive() { console.log('alive:', process.getActiveResourcesInfo().join()); }",
  );
  await app.printed('listening');
  app.child.kill('SIGTERM');
  const { output } = await app.ended;
  expect(output).toContain('alive:');
  expect(output).not.toContain('Timeout');
});

it('a child still gets messages of its parent until everything is closed', async () => {
  const app = start(`${APP.replace('{ server }', '{ server, resources: [asked] }')}
function asked() {
  process.send?.('closing');
  return new Promise((resolve) => process.once('message', resolve)).then(console.log);
}`);
  await app.printed('listening');
  app.child.on('message', () => app.child.send('an answer of the parent'));
  app.child.kill('SIGTERM');
  expect(await app.ended).toMatchObject({ code: 0 });
  expect((await app.ended).output).toContain('an answer of the parent');
});

it.each(['SIGINT', 'SIGTERM'])(
  'a worker of a cluster, as pm2 starts it, ends by itself with 0 on %s',
  async (signal) => {
    const primary = start(`
import cluster from 'node:cluster';
const serve = async () => {
  process.on('message', () => undefined); // as pm2 does
  ${APP.replace(/^import .*$/gm, '')}
};
if (cluster.isPrimary) {
  process.on('disconnect', () => process.exit());
  const worker = cluster.fork();
  worker.on('listening', () => worker.process.kill('${signal}'));
  worker.on('exit', (code, by) => {
    console.log('the worker ended with', code, by);
    process.exit();
  });
} else await serve();
${(APP.match(/^import .*$/gm) ?? []).join('\n')}`);
    await primary.printed('the worker ended with');
    expect((await primary.ended).output).toContain('the worker ended with 0 null');
  },
);
