import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('the inspector, in a browser', (chromium) => {
  const open = testResources();

  test('leads a newcomer from the first URL to the first events', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    const { page, count } = await openInspector(chromium, simulator);

    const welcome = page.locator('#welcome');
    await welcome.getByLabel('URL of your receiver').fill('http://far.example/hook');
    await welcome.getByRole('button', { name: 'Forward' }).click();
    await welcome.getByRole('alert').getByText('far.example is not this machine').waitFor();
    await welcome.getByLabel('URL of your receiver').fill(receiver.url);
    await welcome.getByText('Use your own signing secret').click();
    const secret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
    await welcome.getByLabel('Signing secret').fill(secret);
    await welcome.getByRole('button', { name: 'Forward' }).click();
    await page.getByRole('list', { name: 'Rules' }).getByText(receiver.url).nth(2).waitFor();
    await page.getByRole('status').getByText('Forwarding all three events.').waitFor();
    expect(simulator.rules.list()).toHaveLength(3);
    expect(simulator.secrets.all()).toEqual([secret]);
    // The form is as it was in the beginning.
    expect(await welcome.locator('.form-error').textContent()).toBe('');
    expect(await welcome.getByLabel('URL of your receiver').inputValue()).toBe('');
    expect(await welcome.getByLabel('Signing secret').inputValue()).toBe('');
    expect(await welcome.locator('li[data-done] h3').allTextContents()).toEqual([
      'Enter the URL of your receiver',
    ]);

    await welcome.getByRole('button', { name: 'Place a call' }).click();
    const dialog = page.getByRole('dialog', { name: 'Place a call' });
    await dialog.getByLabel('Phone number').fill('+15550199');
    await dialog.getByLabel('Name of the person').fill('Ida Holm');
    await dialog.getByLabel('Duration in seconds').fill('45');
    await dialog.getByLabel('Recorded').uncheck();
    await dialog.getByRole('button', { name: 'Place' }).click();

    const rows = page.locator('.event-row');
    await rows.getByText('call:started').waitFor();
    await count('acknowledged', 1);
    expect(await welcome.isVisible()).toBe(false);
    expect(simulator.calls.list()).toMatchObject([
      { calledNumber: '+15550199', calledName: 'Ida Holm', plannedMs: 45_000, recorded: false },
    ]);
    await page.getByRole('button', { name: 'Until idle' }).click();
    await count('acknowledged', 2);
    await page.getByRole('tab', { name: 'Calls' }).click();
    await page.getByRole('list', { name: 'Calls' }).getByText('45s · not recorded').waitFor();
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ toPhoneNumber: '+15550199' });
  });

  test('a failed event says why it is retried and when, and is retried when the clock is turned', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response, nth) => {
      response
        .writeHead(nth === 1 ? 503 : 200, { 'x-nth': String(nth) })
        .end(`{"nth":${String(nth)}}`);
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    const { page, count } = await openInspector(chromium, simulator);
    simulator.calls.start();
    await count('waiting', 1);

    await page.locator('.event-row').click();
    const detail = page.locator('#detail');
    await detail.getByText('retry: the receiver responded 503').waitFor();
    await detail.getByText(/Attempt 2 of 6 is due in [45]m/).waitFor();
    await detail.getByText('The service retries: the status was neither 2xx nor 404.').waitFor();
    const [event] = simulator.events.list();
    const { request } = event!.attempts[0]!;
    await detail.getByText(request.headers['X-Service-Webhook-Id']!).waitFor();
    await detail.getByRole('button', { name: 'Raw' }).first().click();
    await detail.getByText(request.body, { exact: true }).waitFor();

    await page.getByRole('button', { name: '+6 min' }).click(); // longer than any retry waits
    await count('acknowledged', 1);
    await count('waiting', 0);
    await detail.getByText('after 2 attempts').waitFor();
    await detail.getByText('Attempt 2', { exact: true }).click();
    await detail.getByText('x-nth').nth(1).waitFor();
    expect(receiver.received).toHaveLength(2);

    await detail.getByRole('button', { name: 'Resend' }).click();
    await detail.getByRole('heading', { name: '#2' }).waitFor();
    await detail.locator('.attempt details[open]').waitFor();
    await count('acknowledged', 2);
    expect(simulator.events.list()[1]).toMatchObject({ copiedBy: 'resend', number: 2 });
  });

  test('a paused rule says why, can be resumed, and its owner was mailed', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver(404);
    simulator.rules.create({
      trigger: 'call:started',
      name: 'To the CRM',
      actions: [{ url: receiver.url }],
    });
    const { page, count, tab } = await openInspector(chromium, simulator);
    simulator.calls.start();
    await page.getByRole('status').getByText('“To the CRM” to').waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    await count('failed', 1);
    const rule = page.getByRole('list', { name: 'Rules' }).getByRole('listitem').first();
    await rule.getByText(/: its URL returned 404.*The owner was emailed/).waitFor();
    await tab('Outbox 1');
    await page.getByText('Your rule "To the CRM" is paused').waitFor();
    await tab('Rules 1 (1 paused)');
    await rule.getByRole('button', { name: 'Resume' }).click();
    await rule.getByText('Active').waitFor();
    expect(simulator.rules.list()).toMatchObject([{ state: 'active' }]);
    expect(await page.locator('#paused').isVisible()).toBe(false);
    await rule.getByRole('button', { name: 'Pause' }).click();
    await page.locator('#paused').getByText('is paused: it was paused by hand').waitFor();
    expect(simulator.rules.list()).toMatchObject([{ state: 'paused', pauseReason: 'by-hand' }]);
  });

  test('a rotated secret is shown and copied only when somebody asks', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const { actions } = simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    const old = simulator.secrets.get(actions[0]!._id)!.current;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await openInspector(chromium, simulator, { permissions });
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText(old).waitFor();
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const question = page.getByRole('dialog', { name: 'Rotate the secret?' });
    expect(simulator.secrets.get(actions[0]!._id)!.current).toBe(old);
    await question.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('status').getByText('Rotated.').waitFor();
    const { current } = simulator.secrets.get(actions[0]!._id)!;
    expect(current).not.toBe(old);
    const content = await page.content();
    expect([content.includes(old), content.includes(current)]).toEqual([false, false]);
    await page.getByRole('button', { name: 'Copy secret' }).click();
    await page.getByText('Secret copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(current);
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText(current).waitFor();
    await page.getByRole('button', { name: 'Hide the secret' }).click();
    expect(await page.content()).not.toContain(current);
  });
});
