import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

const EVIL = `<script>document.title = 'taken over'</script><img src=x onerror="document.title='taken over'">`;

const open = testResources();

describeInChromium('what others wrote is shown as text', (chromium) => {
  test('bodies and headers of answers, payloads, names of people and of rules', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'x-evil': EVIL }).end(EVIL);
    });
    simulator.rules.create({
      trigger: 'call:started',
      name: EVIL,
      actions: [{ url: `${receiver.url}?${encodeURIComponent(EVIL)}`, payload: { [EVIL]: EVIL } }],
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    const { page, count, tab } = await openInspector(chromium, simulator);
    simulator.calls.start({ calledName: EVIL, calledNumber: EVIL });
    await count('acknowledged', 2);

    const detail = page.locator('#detail');
    for (const row of await page.locator('.event-row').all()) {
      await row.click();
      await detail
        .getByRole('region', { name: 'Response body' })
        .getByText(EVIL, { exact: true })
        .waitFor();
      await detail.locator('dd').getByText(EVIL, { exact: true }).first().waitFor();
    }
    await page.getByRole('heading', { name: EVIL }).waitFor();
    await tab('Calls');
    await page.getByRole('list', { name: 'Calls' }).getByText(EVIL).first().waitFor();
    await page.locator('#panel-calls').getByRole('button', { name: EVIL }).click();
    await page.getByTitle('Show all', { exact: true }).getByText(EVIL).waitFor();

    expect(await page.title()).toBe('Call webhooks: inspector');
    // The page's own script and picture are the only ones.
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('img').count()).toBe(1);
  });

  test('even a script that got into the page would be refused', async () => {
    const simulator = await open.simulator();
    const page = await chromium.page();
    await page.goto(simulator.url);
    const refused = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<b>taken over</b>'; return false; } catch { return true; }
    })()`);
    expect(refused).toBe(true);
    await page.evaluate(`new Promise((resolve) => {
      const element = document.createElement('script');
      element.onerror = resolve;
      element.append('document.title = "taken over"');
      try { document.body.append(element); } catch {}
      resolve();
    })`);
    expect(await page.title()).toBe('Call webhooks: inspector');
  });

  test('a page of another origin can do nothing to the simulator', async () => {
    const simulator = await open.simulator();
    const other = await open.receiver((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>another</title>');
    });
    simulator.rules.forwardTo(other.url);
    const page = await chromium.page();
    await page.goto(other.url);
    const told = await page.evaluate(`(async () => {
      const to = (path) => ${JSON.stringify(simulator.url)} + path;
      const tried = (promise) => promise.then((answer) => answer.type === 'opaque' ? 'opaque' : 'read', () => 'refused');
      const headers = { 'content-type': 'application/json' };
      return [
        await tried(fetch(to('/_sim/secrets'))),
        await tried(fetch(to('/_sim/reset'), { method: 'POST', headers, body: '{}' })),
        await tried(fetch(to('/_sim/reset'), { method: 'POST', mode: 'no-cors', body: '{}' })),
        await new Promise((resolve) => {
          const stream = new EventSource(to('/_sim/stream'));
          stream.onopen = () => resolve('read');
          stream.onerror = () => resolve('refused');
        }),
      ];
    })()`);
    expect(told).toEqual(['refused', 'refused', 'opaque', 'refused']);
    expect(simulator.rules.list()).toHaveLength(3);
    await page.evaluate(`(() => {
      const frame = document.createElement('iframe');
      frame.src = ${JSON.stringify(simulator.url)};
      document.body.append(frame);
      return new Promise((resolve) => frame.addEventListener('load', resolve));
    })()`);
    expect(await page.frames()[1]!.locator('h1').filter({ hasText: 'Call webhooks' }).count()).toBe(
      0,
    );
  });

  test('errors of the control API are told in its words', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    simulator.rules.forwardTo(receiver.url);
    simulator.calls.start();
    const { page, count, tab } = await openInspector(chromium, simulator);
    await count('acknowledged', 1);
    await page.locator('.event-row').click();
    await page.locator('#detail .attempt').waitFor();
    await page.route('**/resend', (route) =>
      route.fulfill({
        status: 409,
        json: { error: { code: 'conflict', message: 'The <b>line</b> is busy.' } },
      }),
    );
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('alert').getByText('The <b>line</b> is busy.').waitFor();
    await tab('Calls');
    await page.route('**/end', (route) => route.abort());
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
  });
});
