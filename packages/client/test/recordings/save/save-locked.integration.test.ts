import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ConfigurationError } from '../../../src/errors/index.ts';
import { caught } from '../../support/caught.ts';
import { folder, isSaved, path, save, serve, useDownloads } from '../../support/downloads.ts';

useDownloads();

const resume = true;
const program = fileURLToPath(new URL('../../support/saving-process.ts', import.meta.url));

test('two processes to one path: the second is refused, and goes on when the first was killed', async () => {
  const server = await serve();
  const first = fork(program, [server.origin, path], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const [{ received }] = (await once(first, 'message')) as [{ received: number }];
  const error = await caught(save(server, { resume }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(String(error)).toContain(`process ${first.pid} on ${hostname()} is saving`);
  expect((await fs.stat(`${path}.part`)).size).toBeGreaterThanOrEqual(received);

  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(await fs.readdir(folder)).toContain('call.mp3.part.lock');
  expect((await save(server, { resume })).resumedFrom).toBeGreaterThanOrEqual(received);
  expect(await isSaved()).toBe(true);
  expect(await fs.readdir(folder)).toEqual(['call.mp3']);
});
