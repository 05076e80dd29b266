import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallTimeline, DeliveriesPage, Session } from '../src/api-types.ts';
import { consoleStats } from '../src/index.ts';
import { indentJson } from '../src/recovery/indent-json.ts';
import { maskedBody, wholeBody } from '../src/recovery/masked-body.ts';
import { attack, codeOf, withLetter } from './attacks.ts';
import { BASE, callBody, open, OWN_PAGE, recordingBody } from './support.ts';

describe('deliveries', () => {
  const failing = {
    'call:completed': () => {
      throw new Error('the CRM said no to Grace Hopper');
    },
  };

  describe('api/deliveries', () => {
    it('lists the latest first, a page at a time', async () => {
      const { deliver, get } = open();
      for (const call of ['c1', 'c2', 'c3', 'c4', 'c5']) await deliver(callBody(call));
      const first = await get<DeliveriesPage>('/api/deliveries?limit=2');
      expect(first).toMatchObject({ matching: 5, kept: 5, capacity: 1_000 });
      expect(first.deliveries.map(({ callId }) => callId)).toEqual(['c5', 'c4']);
      await deliver(callBody('c6'));
      const second = await get<DeliveriesPage>(
        `/api/deliveries?limit=2&before=${first.cursor ?? ''}`,
      );
      expect(second.deliveries.map(({ callId }) => callId)).toEqual(['c3', 'c2']);
      const last = await get<DeliveriesPage>(
        `/api/deliveries?limit=2&before=${second.cursor ?? ''}`,
      );
      expect(last.deliveries.map(({ callId }) => callId)).toEqual(['c1']);
      expect(last.cursor).toBeUndefined();
    });

    it('keeps only as many as it was told', async () => {
      const { deliver, get } = open({ stats: consoleStats({ capacity: 3 }) });
      for (const call of ['c1', 'c2', 'c3', 'c4', 'c5']) await deliver(callBody(call));
      const page = await get<DeliveriesPage>('/api/deliveries');
      expect(page.deliveries.map(({ callId }) => callId)).toEqual(['c5', 'c4', 'c3']);
      expect(page).toMatchObject({ kept: 3, capacity: 3 });
    });

    it('filters', async () => {
      const { clock, deliver, receiver, get } = open({ receiving: { on: failing } });
      await deliver(callBody('c1'));
      await deliver(callBody('c1', 'call:started'));
      clock.now += 1_000;
      await deliver(callBody('c2', 'call:started'));
      await receiver.receive({ method: 'GET', headers: {}, body: new Uint8Array() });
      const found = async (query: string) => {
        const { deliveries } = await get<DeliveriesPage>(`/api/deliveries?${query}`);
        return deliveries.map(({ outcome, callId = '-' }) => `${outcome} ${callId}`);
      };
      expect(await found('outcome=handler-failed,method-not-allowed')).toEqual([
        'method-not-allowed -',
        'handler-failed c1',
      ]);
      expect(await found('result=failed')).toEqual(['handler-failed c1']);
      expect(await found('result=refused')).toEqual(['method-not-allowed -']);
      expect(await found('event=call:started')).toEqual(['ignored c2', 'ignored c1']);
      expect(await found('call=c2')).toEqual(['ignored c2']);
      expect(await found('tenant=acme')).toEqual([]);
      expect(await found('source=queue')).toEqual([]);
      expect(await found('text=SAID%20NO')).toEqual(['handler-failed c1']);
      expect(await found(`until=${String(clock.now)}`)).toEqual([
        'ignored c1',
        'handler-failed c1',
      ]);
      expect(await found(`since=${String(clock.now)}&call=c1`)).toEqual([]);
    });

    it('has errors without personal data', async () => {
      const { deliver, get } = open({ receiving: { on: failing } });
      await deliver(callBody('c1', 'call:completed', { recipientName: 'Grace Hopper' }));
      const { deliveries } = await get<DeliveriesPage>('/api/deliveries');
      expect(deliveries[0]?.error).toMatchObject({ code: 'handler-failed' });
      expect(deliveries[0]?.error?.message).toContain('the CRM said no to');
      expect(JSON.stringify(deliveries)).not.toContain('Hopper');
    });

    it.each([
      'limit=0',
      'limit=201',
      'limit=1e2',
      'before=x',
      'outcome=nonsense',
      'since=-1',
      'a=b',
    ])('refuses %s', async (query) => {
      const { ask } = open();
      const response = await ask(`/api/deliveries?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid-request' } });
    });
  });

  it.each([
    ['limit=999999', 'limit: expected a whole number from 1 to 200'],
    ['before=x', 'before: expected a whole number'],
    ['until=soon', 'until: expected a whole number'],
    ['outcome=nonsense', 'outcome: expected one or more of'],
    ['result=won', 'result: expected one or more of'],
    ['text=a&text=b', 'text: it is repeated'],
    [`call=${'x'.repeat(301)}`, 'call: it has more than 300 characters'],
  ])('names the parameter that is wrong in %s', async (query, problem) => {
    const { ask } = open();
    expect(await (await ask(`/api/deliveries?${query}`)).text()).toContain(
      `The request cannot be used: ${problem}`,
    );
  });

  describe('api/calls', () => {
    it('shows the three events of a call and what became of them', async () => {
      const { deliver, get } = open({ receiving: { on: failing, maxAttempts: 2 } });
      await deliver(callBody('c1', 'call:started'));
      await deliver(callBody('c1'));
      await deliver(callBody('c1'));
      await deliver(callBody('c2'));
      const { callId, events } = await get<CallTimeline>('/api/calls/c1');
      expect(callId).toBe('c1');
      expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
        ['call:started', 'handled'],
        ['call:completed', 'dead-lettered'],
        ['call:recording-available', 'not-seen'],
      ]);
      expect(events[1]?.deliveries.map(({ outcome }) => outcome)).toEqual([
        'handler-failed',
        'dead-lettered',
      ]);
      expect(events[1]?.deadLetter).toMatchObject({ callId: 'c1', reason: 'handler-failed' });
    });

    it('shows other events after them, and finds the letter of a recording', async () => {
      const on = { 'call:recording-available': failing['call:completed'] };
      const { deliver, get } = open({ receiving: { on, maxAttempts: 1 } });
      await deliver(recordingBody('c1'));
      await deliver('{"eventName":"call:rated","callId":"c1"}');
      const { events } = await get<CallTimeline>('/api/calls/c1');
      expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
        ['call:started', 'not-seen'],
        ['call:completed', 'not-seen'],
        ['call:recording-available', 'dead-lettered'],
        ['call:rated', 'handled'],
      ]);
      expect(events[2]?.deadLetter).toMatchObject({ eventName: 'call:recording-available' });
    });

    it('shows the deliveries while the store of dead letters fails', async () => {
      const { deliver, get, deadLetters } = open();
      await deliver(callBody('c1'));
      deadLetters.get = () => Promise.reject(new Error('gone'));
      const { events } = await get<CallTimeline>('/api/calls/c1');
      expect(events[1]).toMatchObject({ state: 'handled', deadLetterUnknown: true });
    });

    it('takes any id, and shows it as log lines do', async () => {
      const { get } = open();
      const { callId, events } = await get<CallTimeline>(
        `/api/calls/${encodeURIComponent('../a/b?c#d +49 170 1234567')}`,
      );
      expect(callId).not.toContain('1234567');
      expect(events).toHaveLength(3);
    });
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);
const masked = (value: unknown) =>
  JSON.parse(maskedBody(bytes(JSON.stringify(value))).text ?? '') as unknown;

describe('a masked body', () => {
  it('shows ids, times, states and the structure', () => {
    const shown = {
      ...{ eventName: 'call:completed', eventId: 'e1', callId: 'c1', status: 'answered' },
      ...{ createdAt: 1_800_000_000_000, endedAt: '2026-01-02T03:04:05Z', isTest: true, tags: [] },
      workspaceId: 'w1',
    };
    expect(masked(shown)).toEqual(shown);
  });

  it('masks what may be personal', () => {
    expect(
      masked({
        ...{ name: 'Ada', email: 'ada@example.com', phone: 491701234567, other: 'x', count: 3 },
        contact: { id: 'ada@example.com', tags: ['vip'], owner: { id: 'u1', first: 'Grace' } },
        ...{ recordingUrl: 'https://x.test/?token=abc', status: 'call Ada back', 'Ada L.': 1 },
      }),
    ).toEqual({
      ...{ name: '•••', email: '•••', phone: '•••', other: '•••', count: '•••' },
      contact: { id: '•••', tags: ['•••'], owner: { id: 'u1', first: '•••' } },
      ...{ recordingUrl: '•••', status: '•••', '•••': '•••' },
    });
  });

  it('shows nothing of what is no JSON', () => {
    const body = bytes('name=Ada');
    expect(maskedBody(body)).toMatchObject({ text: null, isJson: false, bytes: 8 });
    expect(wholeBody(body)).toMatchObject({ text: 'name=Ada', isJson: false });
  });

  it('is bounded, however deep or long the body is', () => {
    const deep = maskedBody(bytes('['.repeat(100_000) + ']'.repeat(100_000)));
    expect(deep.text?.length).toBeLessThanOrEqual(256 * 1024);
    const long = wholeBody(bytes(JSON.stringify(Array.from({ length: 200_000 }, () => 'x'))));
    expect(long).toMatchObject({ truncated: true });
    expect(long.text).toHaveLength(256 * 1024);
    const nested = wholeBody(bytes('['.repeat(50_000) + ']'.repeat(50_000)));
    expect(nested).toMatchObject({ truncated: true });
  });

  it('never shows a text in a field that nobody knows', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), (text) => {
        const json = JSON.stringify(masked({ anything: text, list: [text] }));
        expect(json).toBe('{"anything":"•••","list":["•••"]}');
      }),
    );
  });
});

describe('indented JSON', () => {
  it('is as JSON.stringify indents it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value), Infinity)).toBe(JSON.stringify(value, null, 2));
        expect(indentJson(JSON.stringify(value, null, 3), Infinity)).toBe(
          JSON.stringify(value, null, 2),
        );
      }),
    );
  });

  it('is quick for many brackets and for long strings', () => {
    // Each of these took minutes, or more stack than there is, if a step looked at all that was made.
    const empty = `[${'[],'.repeat(300_000)}[]]`;
    expect(indentJson(empty, 2_000_000).split('\n')).toHaveLength(300_003);
    const long = JSON.stringify('\\"x'.repeat(3_000_000));
    expect(indentJson(long, Infinity)).toBe(long);
  });

  it('keeps long numbers as they are', () => {
    expect(indentJson('{"id":12345678901234567890}', 1_000)).toContain('12345678901234567890');
  });
});

describe('a change', () => {
  it.each<[string, Record<string, string | undefined>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }],
    ['from a sibling site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.ops.test' }],
    ['opened by the user', { 'sec-fetch-site': 'none' }],
    [
      'of a browser without Sec-Fetch-Site',
      { 'sec-fetch-site': undefined, origin: 'https://evil.test' },
    ],
    ['of a sandboxed page', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['without an origin', { 'sec-fetch-site': undefined, origin: undefined }],
    ['with nonsense as its origin', { 'sec-fetch-site': undefined, origin: 'ops.test' }],
  ])('is refused %s, even with the right token', async (_what, changed) => {
    const host = { host: 'ops.test' };
    const codes = await attack((own) => {
      const all = Object.entries<string | undefined>({ ...own, ...host, ...changed });
      return Object.fromEntries(
        all.filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
    });
    expect(codes).toEqual(['cross-origin']);
  });

  it('compares the origin with the Host, or with the option', async () => {
    const own = { origin: 'https://ops.test', host: 'ops.test' };
    expect((await open().send('/api/redrive/abort', {}, own)).status).toBe(200);
    const behind = open({ origin: 'https://ops.example' });
    const from = (origin: string) =>
      behind.send('/api/redrive/abort', {}, { origin, host: 'internal' });
    expect((await from('https://ops.example')).status).toBe(200);
    expect((await from('https://ops.test')).status).toBe(403);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
  ])('is refused as %s, which a form can send', async (type) => {
    expect(await attack((own) => ({ ...own, 'content-type': type }))).toEqual(['unsupported-type']);
  });

  it('is refused by a console that is read-only, and to who may only read', async () => {
    expect(await attack((own) => own, { readOnly: true })).toEqual(['read-only']);
    const authorize = () => ({ name: 'Bob', canWrite: false });
    expect(await attack((own) => own, { authorize })).toEqual(['read-only']);
    expect(
      await attack((own) => own, { authorize: (() => ({ name: 'Bob', canWrite: 0 })) as never }),
    ).toEqual(['read-only']);
  });

  it('needs POST', async () => {
    const { ask, deadLetters, id } = await withLetter();
    for (const path of [
      `/api/dead-letters/${id}/remove`,
      `/api/dead-letters/${id}/reveal`,
      '/api/redrive/abort',
    ])
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await ask(path, { method, headers: OWN_PAGE });
        expect([method, response.status]).toEqual([method, 405]);
        expect(response.headers.get('allow')).toBe('POST');
      }
    expect(await deadLetters.count()).toBe(1);
  });

  it.each([
    ['no JSON', '{', 'invalid-request'],
    ['no object', '[]', 'invalid-request'],
    ['nothing', '', 'invalid-request'],
    ['too much', JSON.stringify({ ids: ['x'.repeat(200_000)] }), 'body-too-large'],
    ['nothing to redrive', '{}', 'invalid-request'],
    ['two things to redrive', '{"all":true,"ids":["x"]}', 'invalid-request'],
    ['all: false', '{"all":false}', 'invalid-request'],
    ['an unknown condition', '{"filter":{"even":"x"}}', 'invalid-request'],
    ['a condition of another type', '{"filter":{"event":{}}}', 'invalid-request'],
    ['a prototype', '{"__proto__":{"all":true}}', 'invalid-request'],
    ['ids that are none', '{"ids":[1]}', 'invalid-request'],
    ['a long wait', '{"all":true,"waitMs":1e9}', 'invalid-request'],
  ])('refuses %s as a body', async (_what, body, code) => {
    const { console, get, deadLetters } = await withLetter();
    const { csrfToken } = await get<Session>('/api/session');
    const headers = {
      ...OWN_PAGE,
      'content-type': 'application/json',
      'x-call-webhooks-csrf': csrfToken,
    };
    const response = await console.fetch(
      new Request(`${BASE}/api/redrive`, { method: 'POST', headers, body }),
    );
    expect(await codeOf(response)).toBe(code);
    expect(await deadLetters.count()).toBe(1);
  });
});
