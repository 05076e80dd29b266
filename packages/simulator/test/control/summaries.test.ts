import { expect, test } from '@jest/globals';
import { OUTCOMES } from '@call-webhooks/core';
import type { DeliverySummary, OutcomesView } from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

test('a summary names the receiver, the rule and the outcome', async () => {
  const simulator = await open.simulator();
  const bodies = ['{"outcome":"handled"}', '{"outcome":"invented"}', '{"outcome":"replayed"}', ''];
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
    (await (await fetch(`${simulator.url}/_sim/deliveries`)).json()) as DeliverySummary[];
  for (const _ of [...bodies]) {
    simulator.calls.start();
    await simulator.deliveries.settled();
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
