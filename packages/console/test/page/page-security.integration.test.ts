import { expect, test } from '@jest/globals';
import { callCompleted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

const EVIL = `<script>document.title='taken over'</script><img src=x onerror="document.title='taken over'">`;

describeInChromium('the page of the console is safe', (chromium) => {
  const start = testReceivers();

  test('bodies, names and header values are shown as text', async () => {
    const receiver = await start();
    receiver.tell({ broken: true });
    await receiver.deliver({ ...callCompleted({ callId: EVIL }), toName: EVIL, [EVIL]: EVIL });
    await receiver.deliver({ eventName: EVIL, callId: 'call-2' }, { webhookId: 'a<b>"c' });
    const page = await openConsole(chromium, receiver, '?view=dead-letters');
    await page.getByRole('link', { name: 'call:completed' }).click();
    await page.getByRole('button', { name: 'Show personal data' }).click();
    await page.getByRole('region', { name: 'Body' }).getByText('onerror=').first().waitFor();
    await page.getByText('<b>no such contact</b>').first().waitFor();
    await page.getByText('Ada <Ops>').first().waitFor();
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.locator('.event-name', { hasText: '[redacted]' }).waitFor();
    await page.goto(`${receiver.url}?view=deliveries&call=${encodeURIComponent(EVIL)}`);
    await page.getByRole('region', { name: 'Call' }).getByText('<script>').first().waitFor();
    await page.locator('body[data-ready="deliveries"]').waitFor(); // it has its title then
    expect(await page.title()).toBe('Deliveries · Call webhooks: console');
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('text that is parsed as HTML, inline scripts and styles are refused', async () => {
    const receiver = await start();
    const page = await chromium.page();
    await page.goto(receiver.url);
    await page.locator('body[data-ready]').waitFor();
    const refused = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<b>taken over</b>'; return false; } catch { return true; }
    })()`);
    expect(refused).toBe(true);
    const color = await page.evaluate(`(() => {
      const element = document.createElement('p');
      element.setAttribute('style', 'color: rgb(1, 2, 3)');
      document.body.append(element);
      return getComputedStyle(element).color;
    })()`);
    expect(color).not.toBe('rgb(1, 2, 3)');
  });

  test('few files, kept by the browser, and nothing from elsewhere', async () => {
    const receiver = await start();
    const page = await chromium.page();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(receiver.url);
    await page.locator('body[data-ready]').waitFor();
    const { origin } = new URL(receiver.url);
    expect(asked.filter((url) => !url.startsWith(origin))).toEqual([]);
    const files = asked.filter((url) => !url.includes('/api/'));
    expect(files.length).toBeLessThanOrEqual(4);
    for (const url of files.slice(1)) {
      expect(url).toMatch(/\/assets\/[a-z]+-[0-9a-f]{10}\.(?:js|css|svg)$/);
      const response = await fetch(url);
      await response.arrayBuffer(); // or the connection stays open
      expect(response.headers.get('cache-control')).toContain('immutable');
    }
  });
});
