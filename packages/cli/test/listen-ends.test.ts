import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { receiver, SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

const NEW = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const MINUTE = 60_000;

let folder: string;
let file: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-listen-'));
  file = join(folder, 'secrets');
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

async function listen(...flags: string[]) {
  const listener = start(['listen', '--port', '0', '--no-body', ...flags]);
  closing.push(async () => {
    listener.stop();
    await listener.code;
  });
  await listener.until('Listening at');
  const [url = ''] = /http:\/\/\S+/.exec(listener.stderr()) ?? [];
  const send = async (secret: string) =>
    (await run(['send', 'call:started', '--to', url, '--secret', secret])).code;
  return { ...listener, url, send };
}

/** Its receiver takes what was signed by the clock of the machine, however far the other one is ahead. */
const LENIENT = ['--tolerance', '86400'];
function setAhead(ms: number): void {
  const now = Date.now() + ms;
  jest.spyOn(Date, 'now').mockReturnValue(now);
}

describe('listen --secret-file, with an old secret that ends in ten minutes', () => {
  const inTenMinutes = () => new Date(Date.now() + 10 * MINUTE).toISOString();

  test('takes it until then, and the new one for ever', async () => {
    writeFileSync(file, `${NEW}\n${SECRET} # until ${inTenMinutes()}\n`);
    const { send } = await listen('--secret-file', file, ...LENIENT);
    expect(await send(SECRET)).toBe(0);
    setAhead(9 * MINUTE);
    expect(await send(SECRET)).toBe(0);
    setAhead(2 * MINUTE);
    expect(await send(SECRET)).toBe(1);
    expect(await send(NEW)).toBe(0);
  });

  test('ends with 2 at the first delivery after it, if there is no other one', async () => {
    writeFileSync(file, `${SECRET} # until ${inTenMinutes()}\n`);
    const { send, code, stderr } = await listen('--secret-file', file, ...LENIENT);
    setAhead(11 * MINUTE);
    expect(await send(SECRET)).not.toBe(0);
    expect(await code).toBe(2);
    expect(stderr()).toContain('No signing secret is given');
  });
});

describe('listen ends', () => {
  test('with 3 when its secret file is gone', async () => {
    writeFileSync(file, SECRET);
    const { send, code, stderr } = await listen('--secret-file', file);
    rmSync(file);
    expect(await send(SECRET)).not.toBe(0);
    expect(await code).toBe(3);
    expect(stderr()).toContain('secret file');
  });

  test.each([
    ['has sent half of a request', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{'],
    ['has sent nothing yet', ''],
  ])('at Ctrl-C, although a client %s', async (_what, sent) => {
    const { url, code, stop } = await listen('--secret', SECRET);
    const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    client.write(sent);
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.resume();
    stop();
    expect(await code).toBe(130);
    await closed;
    await expect(fetch(url, { method: 'POST' })).rejects.toThrow('fetch failed');
  });

  test('at Ctrl-C, although the server behind does not answer', async () => {
    const behind = await receiver(() => undefined);
    closing.push(() => behind.close());
    const { send, code, stop } = await listen('--secret', SECRET, '--forward-to', behind.url);
    const sending = send(SECRET);
    while (behind.received.length === 0) await new Promise(setImmediate);
    stop();
    expect(await code).toBe(130);
    expect(await sending).not.toBe(0);
  });
});
