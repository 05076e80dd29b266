import { expect, test } from '@jest/globals';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('the inspector in daily use', (chromium) => {
  const open = testResources();

  async function oneFailed() {
    const simulator = await open.simulator({ maxAttempts: 3 });
    const receiver = await open.receiver(404);
    const actions = [{ url: receiver.url }];
    simulator.rules.create({ trigger: 'call:started', name: 'To the CRM', actions });
    simulator.calls.start({ calledName: 'Ida Holm' });
    await simulator.events.settled();
    return { simulator, receiver };
  }

  test('after a restart, the details of an event that is gone close', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator);
    await page.locator('.event-row').click();
    await page.locator('#detail').getByRole('heading', { name: '#1' }).waitFor();
    await simulator.close();
    await page.getByText('Connection lost').waitFor();
    await open.simulator({ port: Number(new URL(simulator.url).port), seed: 2 });
    await page.locator('#welcome').waitFor();
    await page.locator('#detail').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('alert').getByText('This event no longer exists.').waitFor();
  });

  test('a link to an event that is not there says so, and Back does not lead to it', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator);
    const gone = page.getByRole('alert').getByText('This event no longer exists.');
    await page.goto(`${simulator.url}/?event=deadbeef`);
    await gone.waitFor();
    await page.waitForURL(`${simulator.url}/`);
    await page.locator('.event-row').click();
    await page.locator('#detail').getByRole('heading', { name: '#1' }).waitFor();
    await page.goBack();
    await page.locator('#detail').waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${simulator.url}/`);
    expect(await gone.count()).toBe(1);
  });

  test('a reset closes the details, without a word about the event that they showed', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator);
    await page.getByLabel('Search the events').fill('ida');
    await page.getByRole('button', { name: 'Failed 1' }).click();
    await page.getByLabel('Event name').selectOption('call:started');
    await page.waitForURL(({ search }) => /q=ida/.test(search));
    await page.locator('.event-row').click();
    await page.locator('#detail').getByRole('heading', { name: '#1' }).waitFor();
    const reset = page.getByRole('button', { name: 'Reset' });
    expect(await reset.getAttribute('title')).toBe('Remove all rules, secrets and records');
    await reset.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
    await page.locator('#welcome').waitFor();
    await page.getByRole('status').getByText('The simulator was reset.').waitFor();
    expect(await page.getByRole('alert').locator('.notice').count()).toBe(0);
    // No filter is left that would hide the next events.
    await page.waitForURL(`${simulator.url}/`);
    simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/' });
    simulator.calls.publishRecording(simulator.calls.end(simulator.calls.start()._id)._id);
    await page.locator('.event-row').getByText('call:recording-available').waitFor();
    expect(await page.getByLabel('Search the events').inputValue()).toBe('');
  });

  test('a stream that is refused for a while is asked for again, and changes are seen', async () => {
    const { simulator, receiver } = await oneFailed();
    const { page, count } = await openInspector(chromium, simulator);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.route('**/_sim/stream', (route) => route.fulfill({ status: 503, body: 'busy' }));
    await simulator.close();
    await page.getByText('Connection lost').waitFor();
    const { port } = new URL(simulator.url);
    const refused = page.waitForResponse('**/_sim/stream');
    const after = await open.simulator({ port: Number(port), seed: 2 });
    await refused;
    await page.unroute('**/_sim/stream');
    after.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    after.calls.start();
    await count('failed', 1);
    await page.getByText('Live', { exact: true }).waitFor();
    after.calls.start();
    await count('dropped', 1);
  });

  test('the same error is shown once, and a paused rule in its banner alone', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator);
    await page.locator('#paused').getByText('“To the CRM”').waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    await page.locator('.event-row').click();
    await page.route('**/resend', (route) => route.abort());
    const resend = page.locator('#detail').getByRole('button', { name: 'Resend' });
    for (let tried = 0; tried < 3; tried++) {
      const failed = page.waitForEvent('requestfailed');
      await resend.click();
      await failed;
    }
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    expect(await page.locator('.notice').count()).toBe(1);
  });

  test('a manual clock says so, and every time names its zone', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator, { timezoneId: 'Asia/Tokyo' });
    const clock = page.getByRole('group', { name: 'The simulator’s clock' });
    await clock.getByText('manual').waitFor();
    await clock.getByText('GMT+9').waitFor();
    const title = await page.locator('.event-row .when').getAttribute('title');
    expect(title).toMatch(/GMT\+9 \(.* UTC\)$/);
  });

  test('the form takes a short URL, as the command line does', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const { page } = await openInspector(chromium, simulator);
    const welcome = page.locator('#welcome');
    await welcome.getByLabel('URL of your receiver').fill(`${new URL(url).port}/hook`);
    await welcome.getByRole('button', { name: 'Forward' }).click();
    await page.getByRole('list', { name: 'Rules' }).getByRole('listitem').first().waitFor();
    const urls = simulator.rules.list().flatMap(({ actions }) => actions.map((one) => one.url));
    expect(urls).toEqual(Array(3).fill(`http://127.0.0.1:${new URL(url).port}/hook`));
  });

  test('keys of one letter can be switched off, and the outbox scrolls by keyboard', async () => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByRole('switch').uncheck();
    await help.getByRole('button', { name: 'Close' }).click();
    await help.waitFor({ state: 'detached' });
    await page.locator('.event-row').click();
    await page.locator('#detail h2').waitFor();
    await page.keyboard.press('c');
    await page.keyboard.press('Escape');
    await page.locator('#detail').waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.getByRole('tab', { name: 'Outbox' }).click();
    await page.locator('#panel-outbox').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('id')).toBe('panel-outbox');
  });

  test.each([
    ['light', [1440, 390]],
    ['dark', [1440]],
  ] as const)('axe finds nothing, %s', async (colorScheme, widths) => {
    const { simulator } = await oneFailed();
    const { page } = await openInspector(chromium, simulator, { colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      for (const section of ['1', '2', '3', '4', '5']) {
        await page.keyboard.press(section);
        const found = await axeFindings(page);
        expect({ width, section, found }).toEqual({ width, section, found: [] });
      }
    }
    await page.keyboard.press('1');
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.locator('.event-row').click();
    await page.locator('.attempt details[open]').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('#detail').getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
