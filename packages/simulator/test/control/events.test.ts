import { describe, expect, test } from '@jest/globals';
import { OUTCOMES } from '@call-webhooks/core';
import type { WebhookEventSummary, OutcomesView, StateView } from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

describe('the events', () => {
  const open = testResources();

  /** A receiver that fails the second event, and calls of three people. */
  async function threeCalls() {
    const simulator = await open.simulator({ maxAttempts: 1 });
    const receiver = await open.receiver((_received, response, nth) => {
      response.writeHead(nth === 2 ? 404 : 200).end(nth === 1 ? 'stored as row 77' : '');
    });
    const rule = simulator.rules.create({
      trigger: 'call:started',
      scope: 'workspace',
      actions: [{ url: receiver.url }],
    });
    for (const calledName of ['Ida Holm', 'Noor Haddad', 'Ola Berg']) {
      simulator.calls.start({ calledName });
      await simulator.events.settled();
      await simulator.clock.advance('1m');
      simulator.rules.resume(rule._id);
    }
    const ask = async <Body>(path: string, method = 'GET', body?: unknown): Promise<Body> => {
      const init = { method, headers: { 'content-type': 'application/json' } };
      const response = await fetch(`${simulator.url}/_sim${path}`, {
        ...init,
        ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
      });
      return (await response.json()) as Body;
    };
    const numbers = async (query: string) =>
      (await ask<WebhookEventSummary[]>(`/events?${query}`)).map(({ number }) => number);
    return { simulator, receiver, rule, ask, numbers };
  }

  test('events are found by name, number, id, body and response', async () => {
    const { simulator, numbers, ask } = await threeCalls();
    const [first, , third] = simulator.events.list();
    expect(await numbers('q=noor')).toEqual([2]);
    expect(await numbers('q=%233')).toEqual([3]);
    expect(await numbers(`q=${third!._id}`)).toEqual([3]);
    expect(
      await numbers(`q=${first!.attempts[0]!.request.headers['X-Service-Webhook-Id']!}`),
    ).toEqual([1]);
    expect(await numbers('q=row+77')).toEqual([1]);
    expect(await numbers('q=nobody')).toEqual([]);
    expect(await ask('/events?limit=few')).toMatchObject({
      error: { message: 'limit must be a whole number.' },
    });
    expect(await ask('/calls?limit=1')).toMatchObject([{ calledName: 'Ola Berg' }]);
  });

  test('the state has the latest that match, and counts follow every filter but the state', async () => {
    const { ask } = await threeCalls();
    const state = async (query: string) => {
      const { events, matching } = await ask<StateView>(`/state?${query}`);
      return { shown: events.map(({ number }) => number), matching };
    };
    const matching = { acknowledged: 2, failed: 1 };
    expect(await state('limit=2')).toEqual({ shown: [2, 3], matching });
    expect(await state('state=failed')).toEqual({ shown: [2], matching });
    expect(await state('q=ida&state=failed')).toEqual({
      shown: [],
      matching: { acknowledged: 1 },
    });
    const { events, counts } = await ask<StateView>('/state?q=ida');
    expect(events[0]).toMatchObject({ callName: 'Ida Holm' });
    expect(counts.events).toEqual(matching);
  });

  test('a body is edited and sent again', async () => {
    const { simulator, receiver, ask } = await threeCalls();
    const [first] = simulator.events.list();
    const body = '{"eventName":"call:started","callId":"mine"}';
    const resent = await ask(`/events/${first!._id}/resend`, 'POST', { body });
    expect(resent).toMatchObject({ copyOf: first!._id, copiedBy: 'resend', byHand: true, body });
    await simulator.events.settled();
    expect(receiver.received.at(-1)!.body).toBe(body);
    expect(await ask(`/events/${first!._id}/resend`, 'POST', { body: '{' })).toMatchObject({
      error: { code: 'invalid-input' },
    });
  });

  test('all that failed is sent again once', async () => {
    const { simulator, ask } = await threeCalls();
    expect(await ask('/events/resend-failed?q=ida', 'POST')).toEqual({ resent: 0 });
    expect(await ask('/events/resend-failed', 'POST')).toEqual({ resent: 1 });
    await simulator.events.settled();
    expect(simulator.events.list().at(-1)).toMatchObject({ state: 'acknowledged', number: 4 });
    expect(await ask('/events/resend-failed', 'POST')).toEqual({ resent: 0 });
  });

  test('a summary names the receiver, the rule and the outcome', async () => {
    const simulator = await open.simulator();
    const bodies = [
      '{"outcome":"handled"}',
      '{"outcome":"invented"}',
      '{"outcome":"replayed"}',
      '',
    ];
    const receiver = await open.receiver((_received, response) => {
      response.end(bodies.shift());
    });
    const rule = simulator.rules.create({
      trigger: 'call:started',
      scope: 'workspace',
      name: 'To the CRM',
      actions: [{ url: receiver.url }],
    });
    const read = async () =>
      (await (await fetch(`${simulator.url}/_sim/events`)).json()) as WebhookEventSummary[];
    for (const _ of [...bodies]) {
      simulator.calls.start();
      await simulator.events.settled();
    }
    const shown = await read();
    const named = { ruleName: 'To the CRM', url: receiver.url };
    for (const one of shown) expect(one).toMatchObject(named);
    // `replayed` is a 409, so a 200 that says so does not come from a receiver of these packages.
    expect(shown.map(({ attempts }) => attempts[0]?.outcome)).toEqual([
      'handled',
      undefined,
      undefined,
      undefined,
    ]);
    simulator.rules.remove(rule._id);
    expect((await read())[0]).toMatchObject({ url: receiver.url });
    expect((await read())[0]).not.toHaveProperty('ruleName');
  });

  test('the outcome table is there for the page', async () => {
    const simulator = await open.simulator();
    const view = (await (await fetch(`${simulator.url}/_sim/outcomes`)).json()) as OutcomesView;
    expect(view).toEqual(OUTCOMES);
  });
});
