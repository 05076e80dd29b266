import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';
import { DEFAULT_WORKSPACE } from '@call-webhooks/simulator';

const open = testResources();
const [ada, ben] = DEFAULT_WORKSPACE.users.map(({ _id }) => _id);

test("a user's rule fires for that user's calls, a workspace rule for everybody's", async () => {
  const simulator = await open.simulator();
  const { url } = await open.receiver();
  const actions = [{ url }];
  const trigger = 'call:started';
  const ofAda = simulator.rules.create({ trigger, actions, ownerId: ada });
  const ofBen = simulator.rules.create({ trigger, actions, ownerId: ben });
  const ofAll = simulator.rules.create({ trigger, actions, ownerId: ada, scope: 'workspace' });
  const fired = (placedBy: string | undefined) => {
    const { _id } = simulator.calls.start({ placedBy });
    return simulator.deliveries.list({ callId: _id }).map(({ ruleId }) => ruleId);
  };
  expect(fired(ada)).toEqual([ofAda._id, ofAll._id]);
  expect(fired(ben)).toEqual([ofBen._id, ofAll._id]);
});

test('forwardTo sends the events of all users', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver();
  simulator.rules.forwardTo(receiver.url);
  simulator.calls.place({ placedBy: ben });
  await simulator.clock.runUntilIdle();
  expect(receiver.received).toHaveLength(3);
});
