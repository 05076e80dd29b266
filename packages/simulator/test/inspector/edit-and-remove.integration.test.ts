import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('rules and actions in the inspector', (chromium) => {
  const open = testResources();

  test('an unsigned action is edited, removed and added again', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const rule = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url, signed: false }],
    });
    const { page } = await openInspector(chromium, simulator);
    const card = page.getByRole('list', { name: 'Rules' }).getByRole('listitem').first();
    const dialog = page.getByRole('dialog');
    await card.getByText('so its deliveries are not signed.').waitFor();

    await card.getByRole('button', { name: 'Edit URL' }).click();
    await dialog.getByLabel('URL').fill(`${url}/new`);
    await dialog.getByLabel('Custom payload').fill('{"id": ');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('not valid JSON').waitFor();
    await dialog.getByLabel('Custom payload').fill('{"id": "{{callId}}"}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Sends a custom payload').waitFor();
    const [edited] = simulator.rules.get(rule._id).actions;
    expect(edited).toMatchObject({ url: `${url}/new`, payload: { id: '{{callId}}' } });
    await card.getByRole('button', { name: 'Edit URL' }).click();
    await dialog.getByLabel('Custom payload').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Sends a custom payload').waitFor({ state: 'hidden' });
    expect(simulator.rules.get(rule._id).actions[0]).not.toHaveProperty('payload');

    await card.getByRole('button', { name: 'Remove URL' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(simulator.rules.get(rule._id).actions).toEqual([]);
    await card.getByRole('button', { name: 'Add URL' }).click();
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByLabel('Custom payload').fill('{"added": "{{callId}}"}');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await card.getByRole('button', { name: 'Show the secret' }).waitFor();
    await card.getByText('Sends a custom payload').waitFor();
    expect(simulator.rules.get(rule._id).actions).toMatchObject([
      { url, signed: true, payload: { added: '{{callId}}' } },
    ]);
  });

  test('a rule is removed', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    const { page } = await openInspector(chromium, simulator);
    const list = page.getByRole('list', { name: 'Rules' });
    const dialog = page.getByRole('dialog');
    await list.locator('.buttons').getByRole('button', { name: 'Remove' }).click();
    await dialog.getByText('This removes “I start a call”').waitFor();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No rules yet').waitFor();
    expect(simulator.rules.list()).toEqual([]);
  });

  test('the buttons of a rule stay while it changes: no click is lost', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const rule = simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    const { page } = await openInspector(chromium, simulator);
    const list = page.getByRole('list', { name: 'Rules' });
    const buttons = await list.getByRole('button').elementHandles();
    expect(buttons.length).toBeGreaterThan(5);
    simulator.rules.pause(rule._id);
    await list.getByText('Paused at').waitFor();
    const isThere = (element: { isConnected: boolean }) => element.isConnected;
    const states = await Promise.all(buttons.map((button) => button.evaluate(isThere)));
    expect(states).toEqual(buttons.map(() => true));
  });
});
