import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE, type Simulator } from '@call-webhooks/simulator';
import { getEvents, getJson, searchEvents } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
const { users, templates, sequences } = DEFAULT_WORKSPACE;

describe('the search language', () => {
  async function inbox() {
    const simulator = await open.simulator();
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
    return simulator;
  }

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
    // together
    ['prices from:myself to:dana@customer.example type:opened', 'A'],
    ['hello to:okoro', ''],
  ])('%s', async (text, expected) => {
    const found = (await searchEvents(await inbox(), text)).map(({ subject }) => subject[0]);
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
    const simulator = await open.simulator();
    const answer = await getEvents(simulator, { search: `${operator} ${operator}` });
    expect(answer).toMatchObject({ error: { code: 'invalid-search', reason: 'duplicate' } });
  });

  test('two searches are refused, not ignored', async () => {
    const simulator = await open.simulator();
    const answer = await getJson(simulator, '/events?search=a&search=b');
    expect(answer).toMatchObject({ error: { code: 'invalid-input' } });
  });

  test('until may leave its day out', async () => {
    const simulator = await open.simulator({ untilIncludesDay: false });
    simulator.messages.send({ subject: 'Hi', to: 'a@x.example' });
    expect(await searchEvents(simulator, 'until:2026-01-31')).toHaveLength(0);
    expect(await searchEvents(simulator, 'until:2026-02-01')).toHaveLength(1);
  });
});
