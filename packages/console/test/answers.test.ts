import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Outcome } from '@call-webhooks/core';
import type { DeadLettersPage, Overview } from '../src/api-types.ts';
import { consoleStats } from '../src/index.ts';
import { Sharing } from '../src/stats/sharing.ts';
import { codeOf, failing, GETS, withLetter } from './attacks.ts';
import { callBody, open } from './support.ts';

describe('answers', () => {
  describe('every answer', () => {
    it('has headers that keep it out of frames, caches, scripts and other sites', async () => {
      const { ask } = await withLetter();
      for (const path of [...GETS, '/unknown']) {
        const { headers, status } = await ask(path);
        expect(status).not.toBe(404);
        expect(headers.get('content-security-policy')).toContain("default-src 'none'");
        for (const part of [
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
          "form-action 'none'",
        ])
          expect(headers.get('content-security-policy')).toContain(part);
        expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/);
        expect(Object.fromEntries(headers)).toMatchObject({
          'x-frame-options': 'DENY',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
          'cross-origin-opener-policy': 'same-origin',
          'cache-control': 'no-store',
        });
        expect(headers.has('access-control-allow-origin')).toBe(false);
      }
    });

    it('is no data for a page of another site', async () => {
      const { ask } = open();
      for (const site of ['cross-site', 'same-site']) {
        const response = await ask('/api/overview', { headers: { 'sec-fetch-site': site } });
        expect([response.status, await codeOf(response)]).toEqual([403, 'cross-origin']);
      }
      expect((await ask('/api/overview', { headers: { 'sec-fetch-site': 'none' } })).status).toBe(
        200,
      );
    });

    it('is never 404, 410 or 3xx, whatever the path', async () => {
      const { ask } = open();
      const tricks = [
        ...['/x', '/api', '/api/', '/api/x', '/api//overview', '//api/overview', '/api/overview//'],
        ...[
          '/assets',
          '/assets/',
          '/assets/../index.html',
          '/assets/%2e%2e/index.html',
          '/index.html',
        ],
        ...[
          '/assets/..%2f..%2fpackage.json',
          '/..%2f..%2fetc/passwd',
          '/%5c..%5c',
          '/api%2foverview',
        ],
        ...[
          '/api/overview%00',
          '/api/calls/',
          '/api/dead-letters//reveal',
          '/__proto__',
          '/constructor',
        ],
        ...['/assets/__proto__', '/assets/constructor', '/API/overview', '/api/overview;x=1'],
      ];
      for (const path of tricks) {
        const response = await ask(path);
        expect([path, response.status]).toEqual([path, 400]);
        const text = await response.text();
        expect(text).toContain('"unknown-path"');
      }
      for (const path of ['/api/calls/%', '/api/calls/%E0%A4%A', '/api/dead-letters/%zz'])
        expect(await codeOf(await ask(path))).toBe('invalid-request');
      expect((await ask('/api/overview/')).status).toBe(200);
      expect((await ask('/../../elsewhere')).status).toBe(400);
    });

    it('quotes nothing of a request', async () => {
      const { ask } = open();
      const script = '<script>alert(1)</script>';
      for (const path of [
        `/${script}`,
        `/api/deliveries?outcome=${script}`,
        `/api/deliveries?${script}=1`,
        `/api/dead-letters/${script}`,
        `/api/dead-letters?cursor=${script}`,
      ]) {
        const response = await ask(path, {
          headers: { 'x-forwarded-host': 'evil.test', referer: 'https://evil.test/' },
        });
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(await response.text()).not.toMatch(/script|evil|alert/);
      }
    });

    it('tells nothing of an error that nobody expected', async () => {
      const { ask, receiver, logger } = open();
      const health = jest
        .spyOn(receiver, 'health')
        .mockRejectedValue(new Error('password=hunter2hunter2'));
      const response = await ask('/api/overview');
      expect([response.status, await codeOf(response)]).toEqual([500, 'internal']);
      expect(logger.lines.join()).not.toContain('hunter2');
      health.mockRestore();
    });
  });

  describe('the page', () => {
    it('has a base where its address does not end with a slash, and quotes it', async () => {
      const { console } = open({ path: '/ops/<b>"&' });
      const text = async (url: string) => (await console.fetch(new Request(url))).text();
      expect(await text('https://ops.test/ops/%3Cb%3E%22&')).not.toContain('<b>');
      const { ask } = open();
      expect(await (await ask('')).text()).toContain('<head><base href="./webhooks/">');
      expect(await (await ask('/')).text()).not.toContain('<base');
    });
  });

  it('shows hostile names as JSON, and nothing of them in the page', async () => {
    const script = '<img src=x onerror=alert(1)>';
    const { deliver, ask, get } = open({ receiving: { on: failing, maxAttempts: 1 } });
    await deliver(
      JSON.stringify({ eventName: script, callId: `</script>${script}`, note: script }),
    );
    await deliver(callBody(script, 'call:completed', { [script]: script }), {
      'user-agent': script,
    });
    const { letters } = await get<DeadLettersPage>('/api/dead-letters');
    expect(letters).toHaveLength(1);
    for (const path of [
      '/api/deliveries',
      '/api/dead-letters',
      `/api/dead-letters/${letters[0]?.id ?? ''}`,
      `/api/calls/${encodeURIComponent(script)}`,
    ]) {
      const response = await ask(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(await (await ask('')).text()).not.toContain('onerror');
  });
});

const handled: Outcome = {
  ...{ outcome: 'handled', source: 'webhook', status: 200, durationMs: 10, webhookId: 'w' },
};

/** Processes that share one store. */
function world() {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = memoryStore({ now });
  const start = (id: string) => {
    const process = { id, host: 'host', pid: 1, startedAt: now() };
    const inFlight = () => ({ deliveries: 1, handlers: 0 });
    const sharing = new Sharing({ store, name: 'test', process, now, inFlight });
    return {
      sharing,
      count: (times: number) => {
        for (let made = 0; made < times; made += 1) sharing.add(handled, now());
      },
      /** What it sees: the deliveries of each process and of those before it. */
      async seen() {
        const contents = await sharing.load();
        return contents.map(({ process: { id: of }, hour, day }) => {
          const counts = [hour.own, hour.before, day.own, day.before];
          return [of, ...counts.map((series) => series.series(now()).summary.deliveries)];
        });
      },
    };
  };
  return { clock, store, start };
}

describe('processes with one store', () => {
  it('see each other', async () => {
    const { start } = world();
    const [a, b] = [start('a'), start('b')];
    a.count(2);
    b.count(3);
    await a.sharing.save();
    await b.sharing.save();
    expect(await a.seen()).toEqual([
      ['a', 2, 0, 2, 0],
      ['b', 3, 0, 3, 0],
    ]);
    a.count(1); // its own are those of now
    expect((await a.seen())[0]).toEqual(['a', 3, 0, 3, 0]);
    expect((await b.seen())[1]).toEqual(['a', 2, 0, 2, 0]);
  });

  it('see the day of the others, which is written less often', async () => {
    const { clock, start } = world();
    const [a, b] = [start('a'), start('b')];
    a.count(2);
    await a.sharing.save();
    clock.now += 50_000;
    a.count(3);
    await a.sharing.save();
    expect(await b.seen()).toContainEqual(['a', 5, 0, 5, 0]);
    for (let minutes = 0; minutes < 120; minutes += 1) {
      clock.now += 60_000 - 1;
      await a.sharing.save();
    }
    a.count(1);
    await a.sharing.save();
    expect(await b.seen()).toContainEqual(['a', 1, 0, 6, 0]);
  });

  it('keep what a process counted that has ended', async () => {
    const { clock, start } = world();
    const a = start('a');
    a.count(2);
    await a.sharing.save();
    a.count(1);
    await a.sharing.close();
    const b = start('b');
    b.count(4);
    await b.sharing.save();
    expect(await b.seen()).toEqual([['b', 4, 3, 4, 3]]);
    // Killed: its slot is free once its lease has run out.
    clock.now += 61_000;
    const c = start('c');
    await c.sharing.save();
    expect(await c.seen()).toEqual([['c', 0, 7, 0, 7]]);
  });

  it('count nothing twice when one was frozen for longer than its lease', async () => {
    const { clock, start } = world();
    const [a, b] = [start('a'), start('b')];
    a.count(2);
    await a.sharing.save();
    clock.now += 61_000;
    await b.sharing.save();
    a.count(1);
    await a.sharing.save();
    a.count(1);
    await a.sharing.save();
    const total = (await b.seen()).flatMap(([, own, before]) => [Number(own), Number(before)]);
    expect(total.reduce((sum, count) => sum + count)).toBe(4);
  });

  it('are at most 32', async () => {
    const { start } = world();
    for (let made = 0; made < 32; made += 1) await start(String(made)).sharing.save();
    const late = start('late');
    await expect(late.sharing.save()).rejects.toThrow('More than 32 processes');
    expect(await late.seen()).toHaveLength(33);
  });

  it('read nothing from what cannot be read', async () => {
    const { store, start } = world();
    const a = start('a');
    await a.sharing.save();
    for (const cursor of ['{', 'null', '[]', '{"process":1,"hour":{"own":[[1,2]]}}'])
      for (const part of ['hour', 'day']) {
        await store.saveCursor?.(`console/test/1/${part}`, cursor);
        expect((await a.seen())[0]).toEqual(['a', 0, 0, 0, 0]);
      }
  });
});

describe('a console with shared statistics', () => {
  it('sums up what all processes did, or shows one', async () => {
    const { clock, store, start } = world();
    const other = start('other');
    other.count(5);
    const now = () => clock.now;
    const stats = consoleStats({ store, name: 'test', now });
    const { deliver, get } = open({ stats, now });
    await deliver(callBody('c1'));
    await other.sharing.save();
    const all = await get<Overview>('/api/overview');
    expect(all).toMatchObject({
      scope: 'shared',
      perMinute: 6,
      hour: { summary: { deliveries: 6 } },
    });
    expect(all.inFlight.deliveries).toBe(1);
    expect(all.processes.map(({ id }) => id)).toEqual([all.process, 'other']);
    const one = await get<Overview>('/api/overview?process=other');
    expect(one).toMatchObject({ perMinute: 5, day: { summary: { deliveries: 5 } } });
    expect(await get('/api/overview?process=nobody')).toMatchObject({ error: {} });
    clock.now += 180_000;
    expect((await get<Overview>('/api/overview')).processes).toHaveLength(1);
  });

  it('shows itself while the store fails, and says why', async () => {
    const { store } = world();
    const stats = consoleStats({ store });
    store.admit = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const { deliver, get } = open({ stats });
    await deliver(callBody('c1'));
    expect(await get<Overview>('/api/overview')).toMatchObject({
      scope: 'process',
      sharedError: expect.stringContaining('ECONNREFUSED'),
      day: { summary: { deliveries: 1 } },
    });
    await expect(stats.flush()).rejects.toThrow('ECONNREFUSED');
  });
});
