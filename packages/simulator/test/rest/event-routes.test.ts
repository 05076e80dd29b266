import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE } from '@call-webhooks/simulator';
import { getEvents, searchEvents } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
const { users } = DEFAULT_WORKSPACE;

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
      'The action of an activity',
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
