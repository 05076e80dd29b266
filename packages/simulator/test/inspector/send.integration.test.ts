import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('events that somebody sends, and what came of them', (chromium) => {
  const open = testResources();

  /** A receiver whose first answers have these statuses; the others are 200. */
  async function withReceiver(...statuses: number[]) {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response, nth) => {
      response.writeHead(statuses[nth - 1] ?? 200, { 'x-nth': String(nth) }).end();
    });
    const actions = [{ url: receiver.url }];
    const rule = simulator.rules.create({ trigger: 'call:started', actions });
    simulator.calls.start();
    await simulator.events.settled();
    return { simulator, receiver, rule };
  }

  test('a body is edited and sent again', async () => {
    const { simulator, receiver } = await withReceiver();
    const { page, count } = await openInspector(chromium, simulator);
    await page.locator('.event-row').click();
    await page.locator('#detail').getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Body').fill('{"eventName": ');
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await dialog.getByRole('alert').getByText('not valid JSON').waitFor();
    await dialog.getByLabel('Body').fill('{"eventName":"call:completed","callId":"edited"}');
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await count('acknowledged', 2);
    expect(JSON.parse(receiver.received[1]!.body)).toMatchObject({ callId: 'edited' });
    const newest = page.locator('.timeline li:first-child');
    await newest.getByText('unknown (edited)').waitFor();
    await newest.getByText('call:completed').waitFor();
    await page.locator('#detail').getByRole('heading', { name: 'call:completed #2' }).waitFor();
  });

  test('all that failed is sent again', async () => {
    const { simulator, receiver, rule } = await withReceiver(404, 404);
    simulator.rules.resume(rule._id);
    simulator.calls.start();
    await simulator.events.settled();
    const { page, count } = await openInspector(chromium, simulator);
    await count('failed', 2);
    await page.getByRole('button', { name: 'Resend failed' }).click();
    await page.getByRole('status').getByText('2 events sent again.').waitFor();
    await count('acknowledged', 2);
    expect(receiver.received).toHaveLength(4);
  });

  test('a request is copied as a curl command', async () => {
    const { simulator } = await withReceiver();
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await openInspector(chromium, simulator, { permissions });
    await page.locator('.event-row').click();
    const { request } = simulator.events.list()[0]!.attempts[0]!;
    await page.getByRole('button', { name: 'Copy curl command' }).click();
    await page.getByText('Curl command copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      `--data-raw '${request.body}'`,
    );
  });
});
