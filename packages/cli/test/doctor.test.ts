import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { durationBucket } from '@call-webhooks/core/stores';
import { startSimulator } from '@call-webhooks/simulator';
import Database from 'libsql';
import { nodeVersion } from '../src/commands/doctor-node.ts';
import { closing, fill, setup } from './support/dead-letters.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { type Given, run } from './support/run.ts';

const OTHER = generateSecret();

/** What `doctor --json` found, by check. */
async function doctor(argv: readonly string[], given?: Given) {
  const { code, records } = await run(['doctor', '--json', ...argv], given);
  const found = records() as { check: string; result: string; text: string; fix?: string }[];
  const of = (check: string) => found.filter((one) => one.check === check);
  return { code, found, of, only: (check: string) => of(check)[0] };
}

const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'cli-doctor-'));
  closing.push(() => {
    rmSync(path, { recursive: true });
  });
  return path;
};

const CALL = {
  ...{ eventName: 'call:completed', callId: 'c-1', userId: 'u-1' },
  ...{ recipientName: 'Ada Lovelace', recipientNumber: '+12025550147' },
  ...{ recipientEmail: 'ada@example.com' },
};

/** A text that matches. */
const like = (pattern: RegExp): string => expect.stringMatching(pattern) as unknown as string;

describe('doctor', () => {
  test('looks at the dead letters and the status of one tenant with --tenant', async () => {
    const made = await setup();
    await fill(made, 2, { tenant: 'acme' });
    await fill(made, 1, { tenant: 'globex', key: 'g1' });
    const { env } = made;
    expect((await doctor([], { env })).only('dead letters')?.text).toMatch(/^3 /);
    expect((await doctor(['--tenant', 'acme'], { env })).only('dead letters')?.text).toMatch(/^2 /);
    const typo = await doctor(['--tenant', 'acne'], { env });
    expect(typo.of('dead letters')).toEqual([]);
    expect(typo.only('tenant')).toMatchObject({
      ...{ result: 'warn', text: like(/no deliveries for tenant acne, only for acme, globex/) },
    });
  });

  test('finds nothing bad in a good setup, and says what it was not told of', async () => {
    const { url, env, file, store } = await setup({ secret: [SECRET, OTHER] });
    await store.ping?.();
    const secrets = { CALL_WEBHOOK_SECRET: SECRET, RECORDING_WEBHOOK_SECRET: OTHER };
    const before = readFileSync(file);
    const { code, found, only } = await doctor(['--to', url], { env: { ...env, ...secrets } });
    expect(found.filter(({ result }) => result === 'bad')).toEqual([]);
    expect(code).toBe(0);
    for (const check of [
      'packages',
      'secrets',
      'proxy',
      'store',
      'receiver',
      'clock',
      'large body',
    ])
      expect(only(check)).toMatchObject({ result: 'ok' });
    for (const check of ['field names', 'REST API'])
      expect(only(check)).toMatchObject({ result: 'skipped', text: like(/^Pass /) });
    expect(readFileSync(file)).toEqual(before);
    const people = await run(['doctor', '--to', url], { env: { ...env, ...secrets } });
    expect(people.stdout).toMatch(/^ok {7}receiver {6}A forged delivery is rejected\./m);
  });

  test('knows a secret that is missing, whole, doubled, or of an action of the simulator', async () => {
    expect(await doctor([])).toMatchObject({ code: 1 });
    expect((await doctor([])).only('secrets')).toMatchObject({ result: 'bad' });
    const one = await doctor(['--secret', SECRET]);
    expect(one.only('secrets')).toMatchObject({ result: 'warn', text: like(/recording webhook/) });
    const twice = await doctor(['--secret', `${SECRET},${SECRET}`]);
    expect(twice.only('secrets')).toMatchObject({ result: 'warn', text: like(/twice/) });
    const cut = await doctor(['--secret', 'whsec_abc']);
    expect(cut.only('secrets')).toMatchObject({ result: 'bad' });
    expect(JSON.stringify(cut.found)).not.toContain('whsec_abc');

    const simulator = await startSimulator({});
    closing.push(() => simulator.close());
    const actions = [{ url: 'http://127.0.0.1:9/hook', secret: SECRET }];
    simulator.rules.create({ trigger: 'call:completed', scope: 'workspace', actions });
    const given = ['--simulator', simulator.url, '--secret'];
    const foreign = await doctor([...given, OTHER]);
    expect(foreign.only('secrets')).toMatchObject({ result: 'bad', text: like(/call:completed/) });
    const right = await doctor([...given, `${SECRET},${OTHER}`]);
    expect(right.only('secrets')).toMatchObject({ result: 'ok', text: like(/^All actions/) });
    expect(right.only('REST API')).toMatchObject({ result: 'ok' });
    const url = ['--base-url', simulator.url, '--api-token', 'wrong'];
    expect((await doctor(url)).only('REST API')).toMatchObject({
      result: 'bad',
      fix: like(/API_TOKEN/),
    });
    const v1 = await doctor(['--base-url', `${simulator.url}/v1`]);
    expect(v1.only('REST API')).toMatchObject({ result: 'bad', text: like(/ends with \/v1/) });
  });

  test('knows a store that is not one, and dead letters that wait', async () => {
    const made = await setup();
    await fill(made, 2);
    const { only } = await doctor([], made);
    expect(only('dead letters')).toMatchObject({
      result: 'warn',
      text: like(/^2 /),
      fix: like(/causes/),
    });
    const missing = await doctor(['--store', 'sqlite:no-such.db']);
    expect(missing.only('store')).toMatchObject({ result: 'bad', fix: 'Check the path.' });
    const other = join(folder(), 'other.db');
    const people = new Database(other);
    people.exec('CREATE TABLE people (name TEXT)');
    people.close();
    const foreign = await doctor(['--store', `sqlite:${other}`]);
    expect(foreign.only('store')).toMatchObject({
      result: 'bad',
      text: like(/no tables of a receiver/),
    });
    const down = await doctor(['--store', 'redis://127.0.0.1:1']);
    expect(down.only('store')).toMatchObject({ result: 'bad', text: like(/ECONNREFUSED/) });
  });

  test('tells how long deliveries of the last half hour waited for the store, and of nothing else', async () => {
    const { env, store } = await setup();
    const now = Date.now();
    const [current, first] = [0, 3].map((ago) => Math.floor(now / 600_000) - ago);
    const counters = (name: string, ms: number, count: number) => ({
      [`${name}/${durationBucket(ms)}`]: count,
    });
    const append = (id: string, times: Record<number, Record<string, number>>) =>
      store.log?.append({
        ...{ id, rows: [], failures: [], marks: {}, counts: { times } },
        process: { id: 'p', host: 'h', pid: 1, startedAt: now, at: now, inFlight: 0 },
      });
    const speed = async () => (await doctor([], { env })).of('store speed');
    const others = {
      ...counters('handlerMs/call:completed', 9_000, 1_000),
      ...counters('deliveryMs/call:completed', 9_000, 1_000),
    };
    await append('quick', {
      [first! - 3]: counters('storeMs', 9_000, 1_000), // longer ago
      [first!]: counters('storeMs', 100, 50),
      [current!]: { ...counters('storeMs', 200, 45), ...others },
    });
    expect(await speed()).toEqual([
      {
        ...{ check: 'store speed', result: 'ok' },
        text: like(
          /^A lookup takes \S+ ms\. Deliveries waited for the store for 2\d\d ms \(95th percentile\)\.$/,
        ),
      },
    ]);
    await append('slow', { [current!]: counters('storeMs', 700, 20) });
    expect(await speed()).toEqual([
      {
        ...{ check: 'store speed', result: 'warn' },
        text: like(
          /^In the last half hour, deliveries waited for the store for 7\d\d ms \(95th percentile\), which is more than 500 ms\. A store that does not respond in 2 s makes the receiver reject the delivery with 503\.$/,
        ),
        fix: "Check the load of the store's server, its disk, and the distance between it and the receivers.",
      },
    ]);
  });

  test('knows a receiver that accepts forgeries, limits bodies, or has one secret of two', async () => {
    const open = await receiver();
    closing.push(() => open.close());
    const forged = await doctor(['--to', open.url, '--secret', SECRET]);
    expect(forged.code).toBe(1);
    expect(
      forged
        .of('receiver')
        .map(({ text }) => text)
        .join(),
    ).toContain('Signed with a secret that the receiver does not have');
    const { url } = await setup({ bodyLimit: '256kb' }); // the event is a little larger than 256 KiB
    const limited = await doctor(['--to', url, '--secret', `${SECRET},${OTHER}`]);
    expect(limited.only('large body')).toMatchObject({ result: 'bad', text: like(/413/) });
    const enough = await setup({ bodyLimit: '257kb' });
    const taken = await doctor(['--to', enough.url, '--secret', SECRET]);
    expect(taken.only('large body')).toMatchObject({ result: 'ok' });
    const refused = {
      result: 'bad',
      text: 'A delivery that was signed with secret 2 of 2 was not acknowledged: 401.',
    };
    expect(limited.of('receiver')).toContainEqual(expect.objectContaining(refused));
    // The other way round, as after rotate --secret-out: the new secret comes first, and hides nothing.
    const newFirst = await doctor(['--to', enough.url, '--secret', `${OTHER},${SECRET}`]);
    expect(newFirst.of('receiver').filter(({ result }) => result === 'bad')).toEqual([
      {
        ...{ check: 'receiver', result: 'bad' },
        text: 'A delivery that was signed with secret 1 of 2 was not acknowledged: 401.',
        fix: 'Configure this secret in the receiver as well.',
      },
    ]);
    expect(newFirst.only('large body')).toMatchObject({ result: 'ok' });
    const closed = await doctor(['--to', '1/hook']);
    expect(closed.only('receiver')).toMatchObject({
      result: 'bad',
      text: like(/Nothing is listening/),
    });
    const broken = await receiver(() => ({ status: 500 }));
    closing.push(() => broken.close());
    const failing = await doctor(['--to', broken.url]);
    expect(failing.only('receiver')).toMatchObject({
      result: 'bad',
      text: like(/500 for every request/),
    });
  });

  test('checks each process of several, and one that returns 404 hides no other', async () => {
    const { url } = await setup({ secret: [SECRET, OTHER] });
    const server = createServer((_request, response) => response.writeHead(404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(() => server.close());
    const broken = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
    const secrets = { CALL_WEBHOOK_SECRET: `${SECRET},${OTHER}` };
    const to = ['--to', '1/hook', '--to', broken, '--to', url];
    const { code, of } = await doctor(to, { env: secrets });
    expect(code).toBe(1);
    const texts = of('receiver').map(({ result, text }) => `${result} ${text}`);
    expect(texts[0]).toMatch(/^bad http:\/\/127\.0\.0\.1:1\/hook: Nothing is listening/);
    expect(texts.slice(1, -1).length).toBeGreaterThan(0);
    for (const text of texts.slice(1, -1)) expect(text).toContain(`bad ${broken}: `);
    expect(texts.join()).toContain('404');
    expect(texts.at(-1)).toBe(
      `ok ${url}: A forged delivery is rejected. A genuine delivery is acknowledged.`,
    );
    expect(of('clock').map(({ text }) => text.split(': ')[0])).toEqual([broken, url]);
  });

  test('knows a clock that is off, and a path that responds 404', async () => {
    let off = 0; // seconds
    const server = createServer((request, response) => {
      response.sendDate = false;
      response.setHeader('date', new Date(Date.now() + off * 1_000).toUTCString());
      response.writeHead(request.url?.startsWith('/hook-') === true ? 404 : 401).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(() => server.close());
    const port = String((server.address() as AddressInfo).port);
    const doctorOf = (path: string) => doctor(['--to', `${port}${path}`]);
    const limit = ' the clock of this machine. From 5 minutes on, all deliveries are rejected.';
    // A second more or less is lost in the header.
    for (const [seconds, result, text] of [
      [0, 'ok', /^The receiver's clock agrees with the clock of this machine\.$/],
      [27, 'ok', /^The receiver's clock agrees/],
      [-27, 'ok', /^The receiver's clock agrees/],
      [33, 'warn', /^The receiver's clock is 3[2-4] s ahead of/],
      [-33, 'warn', /^The receiver's clock is 3[2-4] s behind/],
      [236, 'warn', /^The receiver's clock is 3 min 5[5-7] s ahead of/],
      [243, 'bad', /^The receiver's clock is 4 min [2-4] s ahead of/],
      [-243, 'bad', /^The receiver's clock is 4 min [2-4] s behind/],
      [7_500, 'bad', /^The receiver's clock is 2 h [45] min ahead of/],
    ] as const) {
      off = seconds;
      const { code, only } = await doctorOf('/hook');
      expect([seconds, code, only('clock')]).toEqual([
        ...[seconds, 1],
        {
          ...{ check: 'clock', result, text: like(text) },
          ...(result !== 'ok' && { fix: 'Synchronize both clocks with NTP.' }),
        },
      ]);
      if (result !== 'ok') expect(only('clock')?.text).toContain(limit);
    }
    const risk = 'A typo in the path of a rule would pause the rule at once.';
    expect((await doctorOf('/hook')).only('unknown path')).toEqual({
      ...{ check: 'unknown path', result: 'warn', fix: 'Return 503 for unknown paths.' },
      text: `A request to /hook-typo results in 404. ${risk}`,
    });
    expect((await doctorOf('/hooks/')).only('unknown path')).toEqual({
      ...{ check: 'unknown path', result: 'ok' },
      text: 'A request to /hooks/typo results in 401.',
    });
  });

  test('compares field names with captured deliveries, and shows none of their values', async () => {
    const file = join(folder(), 'deliveries.jsonl');
    const { recipientName: _name, ...rest } = CALL;
    const { userId: owner, ...others } = rest;
    writeFileSync(file, JSON.stringify({ ...others, owner, person: 'Grace Hopper' }));
    const unnamed = (await doctor(['--capture', file])).of('field names');
    expect(unnamed).toContainEqual({
      ...{ check: 'field names', result: 'bad', fix: "In fieldNames: placedBy: 'owner'" },
      text: 'No event has the field userId, so context.call does not have placedBy.',
    });
    const { of, found } = await doctor(['--capture', file, '--field-name', 'placedBy=owner']);
    const lacking = of('field names').map(({ text }) => text);
    expect(lacking.join('\n')).toContain('context.call does not have calledName');
    expect(lacking.join('\n')).not.toContain('placedBy');
    expect(JSON.stringify(found)).not.toMatch(/Grace|Hopper|5550147/);
    const recording = { eventName: 'call:recording-available', callId: 'c1', userId: 'u1' };
    writeFileSync(
      file,
      [{ ...others, owner }, recording].map((one) => JSON.stringify(one)).join('\n'),
    );
    const recorded = (await doctor(['--capture', file])).of('field names');
    expect(recorded.map(({ text }) => text)).toContain(
      'No event has the field userId, so context.call does not have placedBy.',
    );
    const none = await doctor(['--capture', 'no-such.jsonl']);
    expect(none.only('field names')).toMatchObject({ result: 'bad', text: like(/Cannot read/) });
  });

  test('knows a proxy that Node ignores', async () => {
    const proxy = { HTTPS_PROXY: 'http://user:secret@proxy.example:3128' };
    const ignored = await doctor([], { env: proxy });
    expect(ignored.only('proxy')).toMatchObject({
      result: 'warn',
      text: like(/HTTPS_PROXY is set/),
    });
    expect(JSON.stringify(ignored.found)).not.toContain('user:secret');
    const proxyOf = async (env: Record<string, string>) => (await doctor([], { env })).of('proxy');
    for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'])
      for (const use of ['', '0', 'true'])
        expect(await proxyOf({ [name]: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: use })).toEqual([
          {
            ...{ check: 'proxy', result: 'warn' },
            text: `${name} is set, but Node ignores it, so the REST requests of your app bypass the proxy.`,
            fix: 'Set NODE_USE_ENV_PROXY=1 (Node 22.21, 24 or later), or unset the proxy variable.',
          },
        ]);
    const both = { http_proxy: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };
    expect(await proxyOf({ ...both, NODE_USE_ENV_PROXY: '1' })).toEqual([
      { check: 'proxy', result: 'ok', text: 'Node uses the proxy of http_proxy, HTTPS_PROXY.' },
    ]);
    expect(await proxyOf({ HTTPS_PROXY: '', NODE_USE_ENV_PROXY: '1' })).toEqual([
      { check: 'proxy', result: 'ok', text: 'No proxy is configured (HTTP_PROXY, HTTPS_PROXY).' },
    ]);
  });

  test.each([
    ['20.19.0', '2026-04-30'],
    ['22.0.0', '2027-04-30'],
    ['24.1.0', '2028-04-30'],
    ['26.5.0', '2029-04-30'],
  ])('says of Node %s that its security fixes end at %s', (version, end) => {
    const at = Date.parse(end);
    expect(nodeVersion(version, at - 1)).toEqual({
      ...{ result: 'ok', fix: undefined },
      text: `Node ${version}, which receives security fixes until ${end}.`,
    });
    const [major = ''] = version.split('.');
    expect(nodeVersion(version, at)).toEqual({
      ...{ result: 'warn', fix: UPDATE },
      text: `These packages work with Node ${version}, but Node ${major} has received no security fixes since ${end}.`,
    });
  });

  test.each(['20.18.3', '20.9.0', '18.20.4', '8.19.0'])(
    'says that Node %s is too old',
    (version) => {
      expect(nodeVersion(version, 0)).toEqual({
        ...{ result: 'bad', fix: UPDATE },
        text: `Node ${version} is too old: these packages need 20.19 or later.`,
      });
    },
  );

  test.each(['21.7.3', '23.1.0', '25.0.0', '27.0.0'])(
    'says that Node %s is no long-term support release',
    (version) => {
      const [major = ''] = version.split('.');
      expect(nodeVersion(version, 0)).toEqual({
        ...{ result: 'warn', fix: UPDATE },
        text: `These packages work with Node ${version}, but Node ${major} is not a long-term support release.`,
      });
    },
  );
});

const UPDATE = 'Update to Node 24 or 26.';
