import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE, type Simulator } from '@call-webhooks/simulator';
import type { ActivityEvent } from '@call-webhooks/client';
import { getEvents, getJson, searchEvents } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
const shared = testResources(afterAll);
const { users, templates, sequences } = DEFAULT_WORKSPACE;

describe('the search language', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await shared.simulator();
    const send = async (input: Parameters<Simulator['messages']['send']>[0]) => {
      simulator.messages.send(input);
      await simulator.clock.advance('1d');
    };
    await send({
      subject: 'A: Spring prices',
      to: { email: 'dana@customer.example', name: 'Dana Reyes' },
      templateId: templates[0]!._id,
      sequenceId: sequences[0]!._id,
    });
    await send({
      subject: 'B: Spring prices, again',
      to: { email: 'eli@prospect.example', name: 'Eli Novak' },
      cc: { email: 'femi@partner.example', name: 'Femi Okoro' },
      senderId: users[1]!._id,
      templateId: templates[1]!._id,
    });
    await send({
      subject: 'C: Hello',
      to: 'gwen@prospect.example',
      cc: { email: 'sales@acme.example', name: 'Acme.Inc Sales' },
      bcc: { email: 'dana@customer.example', name: 'Dana Reyes' },
      senderId: users[2]!._id,
      sequenceId: sequences[1]!._id,
    });
    const [first] = simulator.messages.list();
    simulator.messages.record(first!._id, { action: 'opened' });
    simulator.messages.record(first!._id, {
      action: 'clicked',
      object: { type: 'link', title: 'Product catalogue' },
    });
  });

  test.each([
    ['', 'CBA'],
    // 1. plain text: subjects and recipients, all events of matching messages
    ['prices', 'BA'],
    ['PRICES again', 'B'],
    ['dana', 'CA'],
    ['gwen@prospect', 'C'],
    ['nothing like it', ''],
    // the title of an object is "used for searching"; all events of the message are returned
    ['catalogue', 'A'],
    ['catalogue type:opened', 'A'],
    ['spring catalogue', 'A'],
    ['hello catalogue', ''],
    ['"Product catalogue"', ''],
    // 2. in double quotes: the subject, exactly
    ['"A: Spring prices"', 'A'],
    ['"Spring prices"', ''],
    // to: address, domain, display name; cc and bcc as well; several are combined with or
    ['to:dana@customer.example', 'CA'],
    ['to:prospect.example', 'CB'],
    ['to:partner.example', 'B'],
    ['to:"Dana Reyes"', 'CA'],
    ['to:okoro', 'B'],
    ['to:gwen', ''],
    // a value with a dot is a domain or a name
    ['to:Acme.Inc', 'C'],
    ['to:acme.inc to:prospect.example', 'CB'],
    ['to:okoro to:dana@customer.example', 'CBA'],
    // since and until: the first message was sent on the last day of January
    ['since:2026-02-01 type:unopened', 'CB'],
    ['until:2026-02-01 type:unopened', 'B'],
    ['since:2026-02-01 until:2026-02-01', 'B'],
    // type: one type of event
    ['type:opened', 'A'],
    ['type:replied', ''],
    // template: by name or title; exact and unique, or else the first that matches; any
    ['template:"intro"', 'A'],
    ['template:"Second hello"', 'B'],
    ['template:"hello"', 'A'],
    ['template:"nothing"', ''],
    ['template:*', 'BA'],
    // sequence: by name or _id; the first that matches; any
    ['sequence:"Spring renewals"', 'C'],
    ['sequence:spring', 'A'],
    [`sequence:${sequences[1]!._id}`, 'C'],
    ['sequence:*', 'CA'],
    // from: the caller, a team, a team member
    ['from:myself', 'A'],
    ['from:"Inside Sales"', 'BA'],
    ['from:renewals', 'CB'],
    ['from:cleo@workspace.example', 'C'],
    ['from:nobody@workspace.example', ''],
    // capital letters make no difference, but in a subject
    ['to:DANA@Customer.Example', 'CA'],
    ['to:Prospect.EXAMPLE', 'CB'],
    ['to:"dana REYES"', 'CA'],
    ['template:"INTRO"', 'A'],
    ['template:"second HELLO"', 'B'],
    ['sequence:"SPRING Renewals"', 'C'],
    ['from:"inside SALES"', 'BA'],
    ['from:Cleo@Workspace.Example', 'C'],
    ['"a: spring prices"', ''],
    // a part of an address, of a domain, of a team or of an id is none
    ['to:ana@customer.example', ''],
    ['to:dana@customer.exampl', ''],
    ['to:rospect.example', ''],
    ['to:customer.exampl', ''],
    ['to:customer.example.org', ''],
    ['to:dana@', ''],
    ['from:leo@workspace.example', ''],
    ['from:workspace.example', ''],
    ['from:"Inside"', ''],
    [`sequence:${sequences[1]!._id.slice(1)}`, ''],
    // together
    ['prices from:myself to:dana@customer.example type:opened', 'A'],
    ['hello to:okoro', ''],
  ])('%s', async (text, expected) => {
    const found = (await searchEvents(simulator, text)).map(({ subject }) => subject[0]);
    expect([...new Set(found)].sort().reverse().join('')).toBe(expected);
  });

  test.each([
    'since:2026-01-01',
    'until:2026-01-01',
    'type:opened',
    'template:*',
    'sequence:*',
    'from:myself',
  ])('%s may be given at most once', async (operator) => {
    const answer = await getEvents(simulator, { search: `${operator} ${operator}` });
    expect(answer).toMatchObject({ error: { code: 'invalid-search' } });
  });

  test('two searches are refused, not ignored', async () => {
    const answer = await getJson(simulator, '/events?search=a&search=b');
    expect(answer).toMatchObject({ error: { code: 'invalid-input' } });
  });

  test('a day begins at midnight in UTC, and ends a millisecond before the next', async () => {
    const startAt = Date.UTC(2026, 0, 31) - 1;
    for (const [untilIncludesDay, until, later] of [
      [true, 'ABC', 'ABCD'],
      [false, 'A', 'ABC'],
    ] as const) {
      const other = await open.simulator({ startAt, untilIncludesDay });
      for (const [subject, after] of [
        ['A', 1],
        ['B', 86_399_999],
        ['C', 1],
        ['D', 0],
      ] as const) {
        other.messages.send({ subject, to: 'a@x.example' });
        await other.clock.advance(after);
      }
      const found = async (search: string) =>
        (await searchEvents(other, search))
          .map(({ subject }) => subject)
          .reverse()
          .join('');
      expect(await found('since:2026-01-31')).toBe('BCD');
      expect(await found('since:2026-02-01')).toBe('D');
      expect(await found('until:2026-01-31')).toBe(until);
      expect(await found('until:2026-02-01')).toBe(later);
    }
  });

  test('of several names that match, an exact one counts if it is the only one, else the first', async () => {
    const named = (_id: string, name: string) => ({ _id, name, title: `title of ${name}` });
    const sequences = [
      named('1', 'old single'),
      named('2', 'single'),
      named('3', 'old twin'),
      named('4', 'twin'),
      named('5', 'twin'),
      named('6', '1'),
    ];
    const workspace = { ...DEFAULT_WORKSPACE, sequences, templates: sequences };
    const other = await open.simulator({ workspace });
    for (const { _id } of sequences)
      other.messages.send({ subject: _id, to: 'a@x.example', sequenceId: _id, templateId: _id });
    const found = async (search: string) =>
      (await searchEvents(other, search)).map(({ subject }) => subject);
    for (const operator of ['sequence', 'template']) {
      expect(await found(`${operator}:"single"`)).toEqual(['2']);
      expect(await found(`${operator}:"ingl"`)).toEqual(['1']);
      expect(await found(`${operator}:"twin"`)).toEqual(['3']);
    }
    // An id counts more than a name.
    expect(await found('sequence:"1"')).toEqual(['1']);
    expect(await found('template:"1"')).toEqual(['6']);
    expect(await found('template:"title of single"')).toEqual(['2']);
  });

  test('until may leave its day out', async () => {
    const other = await open.simulator({ untilIncludesDay: false });
    other.messages.send({ subject: 'Hi', to: 'a@x.example' });
    expect(await searchEvents(other, 'until:2026-01-31')).toHaveLength(0);
    expect(await searchEvents(other, 'until:2026-02-01')).toHaveLength(1);
  });
});

describe('the records', () => {
  test('have all the fields of the spec', async () => {
    const simulator = await open.simulator();
    const { _id } = simulator.messages.send({
      subject: 'Prices',
      to: { email: 'dana@customer.example', name: 'Dana Reyes' },
      cc: 'eli@customer.example',
    });
    for (const action of ['downloaded', 'clicked', 'replied', 'opened'] as const) {
      await simulator.clock.advance('1s');
      simulator.messages.record(_id, { action });
    }
    const { results } = await getEvents(simulator, { fields: 'subject', previous: 'x' });
    const message = simulator.messages.get(_id);
    for (const event of results)
      expect(event).toMatchObject({
        _id: expect.any(String),
        threadId: message.threadId,
        subject: 'Prices',
        timestamp: expect.any(Number),
        userId: users[0]!._id,
        teamIds: users[0]!.teamIds,
        actionName: expect.any(String),
        recipientEmail: 'dana@customer.example',
        recipientName: 'Dana Reyes',
        recipients: [
          { email: 'dana@customer.example', name: 'Dana Reyes' },
          { email: 'eli@customer.example', name: null },
        ],
      });
    const shown = results.map((event) => [
      event.action,
      ...['device', 'location', 'object'].filter((field) => field in event),
    ]);
    expect(shown).toEqual([
      ['opened', 'device', 'location'],
      ['replied'],
      ['clicked', 'object'],
      ['downloaded', 'device', 'location', 'object'],
      ['unopened'],
    ]);
  });

  test('unopened disappears when all recipients have opened the message', async () => {
    const simulator = await open.simulator();
    const { _id } = simulator.messages.send({ subject: 'Hi', to: ['a@x.example', 'b@x.example'] });
    const unopened = async () =>
      (await searchEvents(simulator, 'type:unopened')).map(({ actionName }) => actionName);
    expect(await unopened()).toEqual(['Opened by nobody']);
    simulator.messages.record(_id, { action: 'opened', recipientEmail: 'b@x.example' });
    simulator.messages.record(_id, { action: 'opened', recipientEmail: 'b@x.example' });
    expect(await unopened()).toEqual(['Opened by some']);
    simulator.messages.record(_id, { action: 'opened', recipientEmail: 'a@x.example' });
    expect(await unopened()).toEqual([]);
    expect(await searchEvents(simulator, 'type:opened')).toHaveLength(3);
  });

  test('what can not have happened is refused', async () => {
    const { messages } = await open.simulator();
    const { _id } = messages.send({ subject: 'Hi', to: 'a@x.example' });
    expect(() => messages.record(_id, { action: 'unopened' as never })).toThrow(
      'action must be one of opened',
    );
    expect(() => messages.record(_id, { action: 'opened', recipientEmail: 'b@x.example' })).toThrow(
      'no recipient',
    );
    expect(() => messages.send({ subject: 'Hi', to: [] })).toThrow('a recipient');
    expect(() => messages.send({ subject: 'Hi', to: 'a@x.example', templateId: 'x' })).toThrow(
      'no template',
    );
  });
});

interface EventsPage {
  results: ActivityEvent[];
  next: string | null;
  hasNext: boolean;
}

const events = (simulator: Simulator, query: Record<string, string> = {}) =>
  getJson<EventsPage>(simulator, `/events?${new URLSearchParams(query).toString()}`);

test('pages go on where the last one ended, whatever is added or disappears meanwhile', async () => {
  const simulator = await open.simulator({ pageSize: 4 });
  for (let sent = 0; sent < 10; sent++) {
    simulator.messages.send({ subject: String(sent), to: 'a@x.example' });
    if (sent % 2) await simulator.clock.advance('1s');
  }
  const first = await events(simulator);
  expect(first).toMatchObject({ hasNext: true, next: expect.any(String) });
  const last = first.results.at(-1)!;
  const opened = simulator.messages.list().find(({ subject }) => subject === last.subject)!;
  await simulator.clock.advance('1m');
  simulator.messages.record(opened._id, { action: 'opened' });
  const second = await events(simulator, { next: first.next! });
  const third = await events(simulator, { next: second.next! });
  expect([first, second, third].map(({ results }) => results.length)).toEqual([4, 4, 2]);
  expect(third).toMatchObject({ hasNext: false, next: null });
  const all = [...first.results, ...second.results, ...third.results];
  expect(new Set(all.map(({ subject }) => subject)).size).toBe(10);
  const times = all.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...times].sort((one, other) => other - one));
});

test('pages are as long as asked for, 500 at most', async () => {
  const simulator = await open.simulator();
  for (let sent = 0; sent < 510; sent++)
    simulator.messages.send({ subject: String(sent), to: 'a@x.example' });
  expect((await events(simulator)).results).toHaveLength(50);
  expect((await events(simulator, { limit: '7' })).results).toHaveLength(7);
  for (const limit of ['500', '501', '9999', '999999999'])
    expect((await events(simulator, { limit })).results).toHaveLength(500);
});
